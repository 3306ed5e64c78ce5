"""The kernels that accelerators execute."""
