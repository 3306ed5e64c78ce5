"""Workloads of Stream-HLS (FPGA 2025) in PyTorch, at its sizes: ``axiloom nest
benchmarks/streamhls/models.py:residual_block``.

Its PolyBench kernels are in ``benchmarks/polybench``, at Medium.
"""
