"""Every program against its graph: symbolically, and in the model."""
