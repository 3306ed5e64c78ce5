"""What pyproject.toml cannot say: the wheel carries ``docs/`` and ``examples/``, which are no packages.

It is for one platform if ``AXILOOM_PREBUILT`` names a folder of built libraries (``tools/prebuilt.py``).
"""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

PREBUILT = os.environ.get("AXILOOM_PREBUILT")


class BuildWithDocs(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # a checkout has them beside the package
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            for folder in ("docs", "examples"):
                target = Path(self.build_lib, "axiloom", folder)
                shutil.copytree(folder, target, ignore=ignored, dirs_exist_ok=True)
            if PREBUILT:
                shutil.copytree(PREBUILT, Path(self.build_lib, "axiloom", "cosim", "prebuilt"))


class WheelOfAPlatform(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        python, abi, platform = super().get_tag()
        return python, abi, "manylinux2014_x86_64" if PREBUILT else platform


setup(cmdclass={"build_py": BuildWithDocs, "bdist_wheel": WheelOfAPlatform})
