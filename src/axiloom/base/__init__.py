"""What every room may import, and what imports no other: the ground floor.

- :mod:`~axiloom.base.errors`: the errors that a user may see, each with its exit code
- :mod:`~axiloom.base.files`: reading and writing whole files; hashes of our own sources
- :mod:`~axiloom.base.cache`: builds and answers by the content that they depend on
- :mod:`~axiloom.base.processes`, :mod:`~axiloom.base.worker`: other programs, and our own processes
- :mod:`~axiloom.base.extras`, :mod:`~axiloom.base.accelerators`: what is installed beside the package
- :mod:`~axiloom.base.attributes`: what functions of networks in MLIR carry
- :mod:`~axiloom.base.wording`: how messages name numbers and things
- :mod:`~axiloom.base.affine`: affine forms and polynomials
"""
