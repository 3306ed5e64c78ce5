"""Applications in: HLO text, linalg and PyTorch become a `Graph`."""
