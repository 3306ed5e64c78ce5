"""Programs that a run needs, built once for each content: RTL in a simulator, C for the host's CPU."""
