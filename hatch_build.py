"""Building a wheel: the three libraries in C that serve every model are compiled into it, where a compiler is at hand.

A machine without a compiler then runs at the speed of tapes, and one with a compiler need not wait for them at the
first motion. Where there is no compiler, or it fails, the wheel is made without them and says so; nothing else changes.
They are made for every processor of the family (no -march=native), since a wheel may travel, and on x86 once more for
those with registers of 256 bits, which take half the time; the one that serves is chosen when it is loaded.
DALEMBERT_PREBUILD=0 leaves them out.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class CompileRuntime(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or os.environ.get("DALEMBERT_PREBUILD") == "0":
            return
        self._folder = Path(tempfile.mkdtemp(prefix="dalembert-runtime-"))
        made = self._libraries()
        if made:
            for file in made:
                build_data["force_include"][str(file)] = f"dalembert/kernel/ready/{file.name}"
            build_data["pure_python"] = False
            # Any Python, this system and processor: the libraries are plain C.
            build_data["tag"] = f"py3-none-{next(iter(platform_tags()))}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder, ignore_errors=True)

    def _libraries(self) -> list[Path]:
        """All, or none; and those for wide registers where the compiler knows them."""
        sys.path.insert(0, str(Path(self.root) / "src"))
        try:
            from dalembert.errors import BuildError
            from dalembert.kernel.build import find_compiler
            from dalembert.kernel.ready import large, library, runtime

            compiler = find_compiler()
            if compiler is None:
                self.app.display_info("no C compiler: libraries are not compiled into the wheel")
                return []
            every = (
                (library.PREBUILT, library.source, library.LEVEL, ()),
                (runtime.PREBUILT, runtime.source, runtime.LEVEL, runtime.FLAGS),
                (large.PREBUILT, large.source, large.LEVEL, ()),
            )
            with ThreadPoolExecutor() as pool:
                made = [pool.submit(library.prebuild, self._folder, compiler, *one) for one in every]
                more = []
                if platform.machine() in ("x86_64", "AMD64"):
                    more = [pool.submit(library.prebuild, self._folder, compiler, *one, wide=True) for one in every]
                files = [one.result() for one in made]
                for one in more:
                    with contextlib.suppress(BuildError):
                        files.append(one.result())
                return files
        except Exception as error:  # whatever it is, a wheel without the libraries works
            self.app.display_warning(f"libraries are not compiled into the wheel: {error}")
            return []
        finally:
            sys.path.pop(0)
