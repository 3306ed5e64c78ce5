"""What a function computes, by NumPy: the reference that results are compared with."""
