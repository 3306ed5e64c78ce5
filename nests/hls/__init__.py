"""HLS C++ of a schedule."""
