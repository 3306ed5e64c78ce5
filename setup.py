"""What pyproject.toml cannot say: the wheel carries ``docs/`` and ``examples/``, which are no packages."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithDocs(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # a checkout has them beside the package
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            for folder in ("docs", "examples"):
                target = Path(self.build_lib, "axiloom", folder)
                shutil.copytree(folder, target, ignore=ignored, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithDocs})
