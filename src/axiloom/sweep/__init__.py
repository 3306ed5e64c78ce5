"""Many runs, interrupted and resumed at will: points, workers, and the store of their results."""
