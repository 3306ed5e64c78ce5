"""Loop orders, found by symbolic execution."""

from __future__ import annotations

from itertools import permutations

import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.isa.contract.types import Opcode
from axiloom.isa.files.grammar import parse_opcode_flow

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


@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
def test_flows_of_the_convolutions(encoding: str) -> None:
    spec = isa.builtin("conv_v4", encoding=encoding, post=True)
    orders = {flow: isa.loop_orders(spec, flow) for flow in spec.flows}
    every = list(permutations(("oc", "oh", "ow", "ic")))
    assert orders["Ns"] == every
    assert orders["Is"] == [order for order in every if order[-1] == "oc"]
    assert orders["Fs"] == [order for order in every if set(order[:2]) == {"oc", "ic"}]
    assert orders["Os"] == orders["Osq"] == [order for order in every if order[-1] == "ic"]


@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
def test_saved_results_come_back_row_by_row(encoding: str) -> None:
    """The published driver: a filter, its windows, then all results at once."""
    spec = isa.builtin("conv_v3", encoding=encoding)
    assert isa.loop_orders(spec, "Fs") == [("oc", "ic", "oh", "ow"), ("ic", "oc", "oh", "ow")]


@pytest.mark.parametrize(
    ("flow", "first"),
    [
        ("(sF (sIcO) rO)", ("oc", "oh", "ic", "ow")),  # a row of results at a time, and the filter again
        ("(sF sIcO rO)", ("oc", "oh", "ow", "ic")),  # one result at a time
        ("((sF sI cO) save rO)", ("oc", "oh", "ow", "ic")),  # the device adds up over ic
        ("(((sF sI cO) save) rO)", ("oc", "oh", "ow", "ic")),
        ("(((sF sIcO)) rO)", ("oc", "ic", "oh", "ow")),
        ("(sF ((sIcO rO)))", ("oc", "ic", "oh", "ow")),
        ("(sF ((sI cO)) rO)", None),  # nothing is saved
    ],
)
def test_other_flows_with_saved_results(flow: str, first: tuple[str, ...] | None) -> None:
    spec = isa.builtin("conv_v3").replace(flows={"f": parse_opcode_flow(flow)})
    orders = isa.loop_orders(spec, "f")
    assert (orders[0] if orders else None) == first


@pytest.mark.parametrize(
    ("flow", "orders"),
    [
        ("(sP ((sA sB cC) qC))", [_NMK]),  # P stays while m runs
        ("((sP sA sB cC) qC)", [_MNK, _NMK]),
        ("((sA sB cC) sP qC)", [_MNK, _NMK]),
        ("((sA sB cC) qC)", []),  # P is never loaded
        ("(sP sA sB cC qC)", []),  # each product requantised by itself
        ("(sP (sA sB cC) qC rC)", []),  # int8 and int32 of one tile
        ("(sP (sA sB cC) qC qC)", []),
    ],
)
def test_requantised_results_come_once_and_whole(flow: str, orders: list[tuple[str, ...]]) -> None:
    spec = isa.builtin("v3_4", post=True).replace(flows={"f": parse_opcode_flow(flow)})
    assert isa.loop_orders(spec, "f") == orders
