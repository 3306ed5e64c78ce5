"""The choice of a schedule."""
