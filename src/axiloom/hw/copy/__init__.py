"""The engine that gives back what it gets: loop-back and identity."""
