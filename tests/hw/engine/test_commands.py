"""What a command and a step hold."""

from __future__ import annotations

from amaranth.lib import data

from axiloom.hw.engine.commands import CommandKind, command_layout, step_layout


def test_a_command_names_the_half_of_each_operand() -> None:
    layout = command_layout("AB")
    assert [name for name, _ in layout] == ["kind", "half_a", "half_b"]
    assert layout.size == layout["kind"].width + 2
    assert 1 << layout["kind"].width > max(CommandKind)


def test_behind_the_receiver_it_has_the_sizes_too() -> None:
    sizes = data.StructLayout({"m": 5, "n": 3})
    layout = command_layout("IF", sizes)
    assert layout["dims"].shape == sizes
    assert layout.size == command_layout("IF").size + 8
    assert "dims" not in dict(iter(command_layout("IF")))


def test_a_step_says_what_the_result_buffer_must_know() -> None:
    assert [name for name, _ in step_layout(32)] == [
        "block_done",
        "first_block",
        "last_block",
        "half",
        "accumulate",
        "last_row",
    ]
    assert step_layout(32).size == 10
