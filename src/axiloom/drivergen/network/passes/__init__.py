"""Passes on whole networks, one a file; they run on tensors, before the network is cut into layers."""
