"""Opcode maps, flows and orders of loops of v1 to v3 in the spelling of the published scripts."""

from __future__ import annotations

from benchmarks.published.inputs import COMBINED, V1, V2, V3, Input, product

SEND = {
    "Ns v1": (V1, "s=[op_send(0), op_send(1)], r=[op_recv(2)]", "(s r)", "0,1,2"),
    "Ns v2": (V2, "s=[op_send_literal(7), op_send(0), op_send(1)], r=[op_recv(2)]", "(s r)", "0,1,2"),
    "As v2": (
        V2,
        "s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(6), op_send(1)], r=[op_recv(2)]",
        "(s0 (s1c r))",
        "0,2,1",
    ),
    "Bs v2": (
        V2,
        "s1=[op_send_literal(2), op_send(1)], s0c=[op_send_literal(5), op_send(0)], r=[op_recv(2)]",
        "(s1 (s0c r))",
        "1,2,0",
    ),
    "Ns v3": (V3, "s=[op_send_literal(15), op_send(0), op_send(1)], r=[op_recv(2)]", "(s r)", "0,1,2"),
    "As v3": (
        V3,
        "s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(14), op_send(1)], r=[op_recv(2)]",
        "(s0 (s1c r))",
        "0,2,1",
    ),
    "Bs v3": (
        V3,
        "s1=[op_send_literal(2), op_send(1)], s0c=[op_send_literal(13), op_send(0)], r=[op_recv(2)]",
        "(s1 (s0c r))",
        "1,2,0",
    ),
    "Cs v3": (
        V3,
        "s=[op_send_literal(7), op_send(0), op_send(1)], r=[op_send_literal(8), op_recv(2)],",
        "((s) r)",
        "0,1,2",
    ),
}
MAPS = {
    name: Input(
        product(
            f'  accel_opcode_map_str = "opcode_map<{opcodes}>", accel_opcode_flow_str = "{flow}",\n'
            f"  accel_loop_permutation = [{order}], accel_acc_on_cpu = 2, accel_accel_tile_size = 4,"
        ),
        (*accel, *(COMBINED if accel is not V1 else ())),
    )
    for name, (accel, opcodes, flow, order) in SEND.items()
}
