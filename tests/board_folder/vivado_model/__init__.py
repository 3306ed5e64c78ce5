"""Vivado without Vivado: runs our Tcl under a plain `tclsh` and finds what Vivado would refuse.

``harness.tcl`` sends every command of the vendor here; ``commands`` says which options and arguments each
takes, ``catalogue`` which pins, interfaces and properties each core has, ``design`` keeps a block design and
checks it, ``project`` projects, files, runs and packaging. ``session`` runs a script and lists all its
faults, ``scripts`` runs those of a folder. ``ipxact_check`` judges a component.xml.
"""
