"""Whole applications on any instruction set: selection, allocation, programs of commands, validation.

An application is a graph of operations on tensors (:mod:`axiloom.graph`). The way of the data, and the
rooms, each of which knows those above it:

- ``rules/``: equations between graphs, with their proofs; ``egraph/``: saturation and extraction
- ``accelerators/``: kernels of accelerators as patterns; exact and flexible matches
- ``machine/``: what instructions of a text with meaning compute on tensors, typed by memory
- ``allocate/``: order and addresses, by constraints
- ``compile/``: which instructions make an application, where its values lie, and when
- ``program/``: commands with their words, and where tensors lie in the host's memory; ``drive/``: their
  driver in C
- ``partition/``: networks on accelerators with a stream: which product goes where, in which form
- ``validate/``: every program against its graph: symbolically, and in the model
"""
