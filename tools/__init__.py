"""Tools for those who work on Axiloom; nothing of it is installed."""
