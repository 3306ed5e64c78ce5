"""The passes, one a file; each docstring shows the IR before and after."""
