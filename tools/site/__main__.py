"""``python -m tools.site [FOLDER]``: the site in FOLDER (default: build/site). Every warning is an error."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.site.assemble import ROOT, Site


def main(words: Sequence[str]) -> int:
    try:
        from sphinx.cmd.build import main as sphinx
    except ImportError:
        print("the site needs Sphinx: pip install -e '.[docs]'", file=sys.stderr)
        return 2
    target = Path(words[0]) if words else ROOT / "build" / "site"
    with tempfile.TemporaryDirectory() as name:
        pages = Path(name) / "pages"
        Site(pages).write()
        configuration = str(Path(__file__).parent)
        options = ["-q", "-W", "--keep-going", "-E", "-b", "html", "-c", configuration]
        code = sphinx([*options, "-d", str(Path(name) / "doctrees"), str(pages), str(target)])
    if code == 0:
        print(f"{len([*target.rglob('*.html')])} pages: {target / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
