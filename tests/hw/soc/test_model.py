# amaranth: UnusedElaboratable=no
"""The place of the functional model: the instance in the Verilog, against the module that simulators have.

What the model does there is for `tests/cosim`.
"""

from __future__ import annotations

import re

import pytest

from axiloom import isa
from axiloom.cosim.build import verilator
from axiloom.hw.soc.accelerator import build
from axiloom.hw.soc.model import MODULE, PORTS, ModelAccelerator
from axiloom.hw.verilog import emit as verilog


def instances(text: str) -> list[dict[str, str]]:
    """Port to what is connected, of each instance of the model."""
    found = re.findall(rf"^ *{MODULE} \w+ \((.*?)\);", text, re.MULTILINE | re.DOTALL)
    return [dict(re.findall(r"\.(\w+)\((.*)\)", ports)) for ports in found]


def test_its_ports_are_those_of_the_module() -> None:
    text = (verilator.RTL / "axl_model.v").read_text(encoding="utf-8")
    head = text[text.index(f"module {MODULE}") :]
    declared = re.findall(r"^ +(?:input|output) +(?:wire|reg) +(?:\[[^]]*\] +)?(\w+)", head, re.MULTILINE)
    assert sorted(declared) == sorted(PORTS)


def test_every_port_is_connected() -> None:
    text = verilog.emit_model_soc([isa.builtin("v1_4")])
    (ports,) = instances(text)
    assert set(ports) == set(PORTS)
    assert int(ports["number"].split("h")[1], 16) == 0


def test_each_has_a_number() -> None:
    specs = isa.place([isa.builtin("v1_4"), isa.builtin("v3_4")])
    made = instances(verilog.emit_model_soc(specs))
    assert [int(ports["number"].split("h")[1], 16) for ports in made] == [0, 1]


def test_a_restart_resets_it_as_the_domain_does() -> None:
    text = verilog.emit_model_soc([isa.builtin("v1_4")])
    (ports,) = instances(text)
    (value,) = re.findall(rf"assign {ports['rst']} = (.*);", text)
    assert sorted(value.split(" | ")) == ["restart", "rst"]
    assert ModelAccelerator(32, number=3).number == 3


@pytest.mark.parametrize("width", [32, 128])
def test_it_has_the_members_of_an_engine(width: int) -> None:
    spec = isa.revise(isa.builtin("v3_4"), stream_width=width)
    engine = build(spec).signature.members
    ours = ModelAccelerator(width).signature.members
    assert {name: ours[name] for name in engine} == dict(engine.items())
    assert set(ours) - set(engine) == {"restart"}
