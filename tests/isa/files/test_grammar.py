"""opcode_map and opcode_flow: text to values and back, and faults with their column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiloom.isa.contract.types import DimField, Recv, Scope, Send, SendDim, SendIdx, SendLiteral
from axiloom.isa.files.grammar import (
    GrammarError,
    parse_opcode_flow,
    parse_opcode_map,
    print_opcode_flow,
    print_opcode_map,
)

_BARE = st.from_regex(r"[A-Za-z_][A-Za-z0-9_$.]{0,6}", fullmatch=True)
_INNER = st.text(
    st.characters(min_codepoint=32, max_codepoint=126, exclude_characters='"\\'), min_size=1, max_size=6
)
_NAME = _BARE | _INNER.filter(lambda text: text == text.strip())
_ACTION = st.one_of(
    st.builds(Send, _BARE),
    st.builds(Recv, _BARE),
    st.builds(SendLiteral, st.integers(-5, 2**33)),
    st.builds(SendIdx, _BARE),
    st.builds(SendDim, st.lists(st.builds(DimField, _BARE, st.integers(0, 40)), min_size=1).map(tuple)),
)
_SCOPE = st.recursive(
    st.lists(_NAME, max_size=3).map(lambda items: Scope(tuple(items))),
    lambda inner: st.lists(_NAME | inner, max_size=3).map(lambda items: Scope(tuple(items))),
    max_leaves=8,
)


@given(st.dictionaries(_NAME, st.lists(_ACTION, max_size=4).map(tuple), max_size=4))
def test_opcode_map_round_trip(opcodes: dict[str, tuple[Send, ...]]) -> None:
    assert parse_opcode_map(print_opcode_map(opcodes)) == opcodes


@given(_SCOPE)
def test_opcode_flow_round_trip(scope: Scope) -> None:
    assert parse_opcode_flow(print_opcode_flow(scope)) == scope


def test_published_form() -> None:
    text = """opcode_map < sA = [send_literal(0x22), send(0)],
                 "all" = [send_dim(m | n << 10|k<<20), send_idx(k), recv(C)] >"""
    assert parse_opcode_map(text) == {
        "sA": (SendLiteral(0x22), Send("0")),
        "all": (SendDim((DimField("m"), DimField("n", 10), DimField("k", 20))), SendIdx("k"), Recv("C")),
    }


def test_spelling_of_the_published_code() -> None:
    theirs = """opcode_map<s0 = [op_send_literal(1), op_send(0)], d = [op_send_dim(2), op_send_idx(2)],
                 r = [op_recv(2)],>"""
    ours = "opcode_map<s0 = [send_literal(1), send(0)], d = [send_dim(2), send_idx(2)], r = [recv(2)]>"
    assert parse_opcode_map(theirs) == parse_opcode_map(ours)


@pytest.mark.parametrize("text", ["opcode_flow<(sA (sB cC rC))>", "<(sA (sB cC rC))>", "( sA(sB\ncC rC))"])
def test_flow_forms(text: str) -> None:
    flow = parse_opcode_flow(text)
    assert str(flow) == "(sA (sB cC rC))"
    assert flow.depth == 2
    assert list(flow.opcodes()) == [("sA", 1), ("sB", 2), ("cC", 2), ("rC", 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: expected `<`, not the end"),
        ("opcode_map<sA = [send(A)]", "column 26: expected `,`, not the end"),
        ("opcode_map<sA = [send(A) send(B)]>", "column 26: expected `,`, not `send`"),
        (
            "opcode_map<sA = [push(A)]>",
            "column 18: expected one of send, send_literal, send_dim, send_idx, recv, write, wait, "
            "not `push`",
        ),
        ("opcode_map<sA = [send_literal(A)]>", "column 31: expected an integer, not `A`"),
        ("opcode_map<sA = [send_literal(0x)]>", "column 31: unexpected `0`"),
        ("opcode_map<sA = [send()]>", "column 23: expected an operand, not `)`"),
        ("opcode_map<sA = [send(A)], sA = [recv(C)]>", "column 28: opcode `sA` is defined twice"),
        ("opcode_map<sA = [send(A)]> x", "column 28: expected the end, not `x`"),
        ("opcode_map<sA = [send(A)];>", "column 26: unexpected `;`"),
        ("opcode_map<1 = [send(A)]>", "column 12: expected the name of an opcode, not `1`"),
        ("opcode_map<sA = [send_dim(m | )]>", "column 31: expected a dim, not `)`"),
    ],
)
def test_map_faults(text: str, message: str) -> None:
    with pytest.raises(GrammarError) as error:
        parse_opcode_map(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opcode_flow<sA>", "column 13: expected `(`, not `sA`"),
        ("opcode_flow<(sA (sB)>", "column 21: expected an opcode, `(` or `)`, not `>`"),
        ("(sA))", "column 5: expected the end, not `)`"),
        ("(" * 100, "column 65: more than 64 scopes inside each other"),
    ],
)
def test_flow_faults(text: str, message: str) -> None:
    with pytest.raises(GrammarError) as error:
        parse_opcode_flow(text)
    assert str(error.value) == message


@given(st.text('opcde_mapfw<>()[]=,|sAB1 "-x', max_size=30))
def test_any_text_parses_or_says_where(text: str) -> None:
    for parse in (parse_opcode_map, parse_opcode_flow):
        column = 1
        try:
            parse(text)
        except GrammarError as error:
            column = error.column
        assert 1 <= column <= len(text) + 1
