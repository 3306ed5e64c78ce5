"""What a specification consists of, as values: vocabulary, `AcceleratorSpec`, words and beats.

``rtl.py`` is what a specification says of the user's own Verilog.
"""
