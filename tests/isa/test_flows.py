"""Loop orders, found by symbolic execution."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.errors import UsageError
from axiloom.isa.grammar import parse_opcode_flow
from axiloom.isa.types import Opcode

_MNK, _MKN, _NMK = ("m", "n", "k"), ("m", "k", "n"), ("n", "m", "k")
_NKM, _KMN, _KNM = ("n", "k", "m"), ("k", "m", "n"), ("k", "n", "m")
_ALL = [_MNK, _MKN, _NMK, _NKM, _KMN, _KNM]
_STATIONARY = {"Ns": _ALL, "As": [_MKN, _KMN], "Bs": [_NKM, _KNM], "Cs": [_MNK, _NMK]}


@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
@pytest.mark.parametrize("name", isa.builtins())
def test_builtin_flows(name: str, encoding: str) -> None:
    spec = isa.builtin(name, encoding=encoding)
    flows = {"v1": "Ns", "v2": "Ns As Bs", "v3": "Ns As Bs Cs", "v4": "Ns As Bs Cs"}[name[:2]]
    assert list(spec.flows) == flows.split()
    for flow in spec.flows:
        assert isa.loop_orders(spec, flow) == _STATIONARY[flow]


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        ("v2_4", "((sA sB) cCrC)"),  # k sums only the last product
        ("v3_4", "(sA sB cC)"),  # C never comes back
        ("v3_4", "(sA cC rC)"),  # B is never loaded
        ("v3_4", "(sA (sB cC) rC rC (rC))"),  # rC under A's loops: no order has both
        ("v3_4", "((sA sB cC rC cC) rC)"),  # a product comes back twice
        ("v3_4", "()"),
        ("v3_4", "(sA (sB (cC (rC))))"),  # more scopes than loops
    ],
)
def test_wrong_flows_have_no_order(name: str, flow: str) -> None:
    spec = isa.builtin(name).replace(flows={"f": parse_opcode_flow(flow)})
    assert isa.loop_orders(spec, "f") == []


def test_inner_scope_of_depth_three() -> None:
    spec = isa.builtin("v3_4").replace(flows={"f": parse_opcode_flow("((sA (sB cC rC)))")})
    assert isa.loop_orders(spec, "f") == [_MKN, _KMN]


def test_state_left_by_one_tile_counts() -> None:
    """Without the clear, the first tile of C is right and the second one adds to it."""
    spec = isa.builtin("v3_4", encoding="literals")
    kept = spec.opcodes["rC"]
    stored_only = Opcode(kept.name, kept.host, kept.device[:1])
    assert isa.loop_orders(spec.replace(opcodes={**spec.opcodes, "rC": stored_only}), "Cs") == []


def test_unknown_flow() -> None:
    with pytest.raises(UsageError) as error:
        isa.loop_orders(isa.builtin("v2_4"), "Cs")
    assert str(error.value) == "v2_4 has no flow `Cs`; its flows are Ns, As, Bs"
