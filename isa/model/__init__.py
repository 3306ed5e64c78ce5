"""The functional model: words in, words out, with a device for each form of a kernel."""
