"""MP4 files by ffmpeg: that of the machine, or the one that `pip install 'dalembert[mp4]'` brings."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from dalembert.errors import OutputError
from dalembert.view.animate.gif import Image


def ffmpeg() -> str:
    """The program, or a message that tells how to get it."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            import imageio_ffmpeg

            found = imageio_ffmpeg.get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            found = None
    if found is None:
        raise OutputError(
            "MP4 needs ffmpeg, which is not on this machine: pip install 'dalembert[mp4]' brings it; .gif and .html "
            "need nothing else"
        )
    return str(found)


def mp4_of(images: Iterable[Image], size: tuple[int, int], fps: float) -> bytes:
    """Images as a video; size: width and height, even numbers."""
    program = ffmpeg()
    with tempfile.TemporaryDirectory(prefix="dalembert-") as folder:
        file = Path(folder) / "video.mp4"
        command = [
            program, "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}",
            "-r", f"{fps:.10g}", "-i", "-", "-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "18",
            "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(file),
        ]  # fmt: skip
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdin is not None
        try:
            for image in images:
                process.stdin.write(image.tobytes())
        except BrokenPipeError:
            pass  # it says why below
        except BaseException:
            process.kill()
            process.wait()
            raise
        _, errors = process.communicate()
        if process.returncode or not file.is_file():
            reason = errors.decode("utf-8", "replace").strip().splitlines()
            raise OutputError(f"ffmpeg could not write the video: {reason[-1] if reason else 'it gave no reason'}")
        return file.read_bytes()
