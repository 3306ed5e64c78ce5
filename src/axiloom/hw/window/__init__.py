"""The convolution engine whose host cuts out every window (conv_v3): engine, sizes, control, dot product."""
