"""`dalembert animate`: the file, what is said of it, and bad requests."""

from __future__ import annotations

from PIL import Image


def test_it_writes_a_gif_in_real_time(dalembert, tmp_path):
    done = dalembert("animate", "pendulum", "--duration", "0.5", "--fps", "10", "--set", "l=2", "--no-forces")
    assert done.status == 0, done.err
    assert done.out == "pendulum: t = 0 … 0.5, 0.5 s in real time\nwrote pendulum.gif\n"
    with Image.open(tmp_path / "pendulum.gif") as image:
        assert image.n_frames == 6


def test_it_tells_another_speed(dalembert, tmp_path):
    done = dalembert(
        "animate",
        "pendulum",
        "--duration",
        "0.4",
        "--fps",
        "5",
        "--speed",
        "0.5",
        "--dark",
        "--out",
        tmp_path / "a.gif",
    )
    assert done.status == 0, done.err
    assert "0.8 s at 0.5 times its speed" in done.out


def test_bad_requests_come_before_the_work(dalembert, tmp_path):
    for out, message in (("a.avi", "written as .gif, .mp4 or .html"), ("no/a.gif", "there is no folder")):
        done = dalembert("animate", "pendulum", "--out", out)
        assert done.status == 2
        assert message in done.err
        assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []
