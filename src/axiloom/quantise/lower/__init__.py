"""What the functions of `ops` stand on: `calibrate` watches the float network, `lowering` walks its ATen
graph, `fixed` has real factors as integers."""
