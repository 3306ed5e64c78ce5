"""The documentation as a site: ``python -m tools.site`` (or ``make docs``) writes ``build/site/index.html``.

- ``assemble.py``: one folder of pages from docs/, CHANGELOG.md, CONTRIBUTING.md and the files they link to
- ``reference.py``: the pages of the command line and of Python, from the code
- ``conf.py``: Sphinx's configuration
- ``__main__.py``: both, with every warning an error
"""
