"""Sphinx's configuration. The pages are Markdown (MyST); the theme is Furo, for light, dark and narrow."""

import axiloom

project = "Axiloom"
author = "The Axiloom developers"
project_copyright = author
version = release = axiloom.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Axiloom {version}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]  # blocks of code are shown as they are where no lexer fits

highlight_language = "text"  # most blocks are commands and what they print
default_role = "code"  # docstrings have names in single backticks
autodoc_typehints = "none"  # the signatures have them
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
