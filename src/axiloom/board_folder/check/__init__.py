"""Every file of a folder, read by a tool."""
