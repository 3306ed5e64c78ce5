"""The scheduled program as IR in xDSL: text in, text out, and an interpreter."""
