"""Accelerators with several kernels: what is read, refused and computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.soc.accelerator import check_engine
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import Compute
from axiloom.isa.files import json_form
from axiloom.isa.files.library import check_file
from axiloom.isa.opcode_map.model import FunctionalModel

EXAMPLE = Path(__file__).parents[3] / "examples" / "conv_relu" / "conv_relu.json"
HERE = "accelerators[0]"
Edit = Callable[[dict[str, Any]], Any]


def faults(tmp_path: Path, edit: Edit) -> list[str]:
    document = json.loads(EXAMPLE.read_text())
    edit(document["accelerators"][0])
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(document))
    return check_file(file)


def test_what_is_read_is_written() -> None:
    spec = isa.load(EXAMPLE)
    assert [part.name for part in spec.parts] == ["conv_relu", "conv_relu.relu"]
    assert spec.opcodes["act"].device == (Compute("relu"),)
    assert isa.dumps(isa.load(EXAMPLE)) == isa.dumps(*json_form_specs(isa.dumps(spec)))


def json_form_specs(text: str) -> list[isa.AcceleratorSpec]:
    drafts, outside = json_form.read(text)
    assert not outside
    return [draft.spec for draft in drafts]


def test_what_is_shared_follows() -> None:
    spec = isa.revise(isa.load(EXAMPLE), stream_width=64)
    assert [part.link.stream_width for part in spec.parts] == [64, 64]


def _opcode(old: str, new: str, place: str = "opcode_map") -> Edit:
    def edit(body: dict[str, Any]) -> None:
        part = body["kernels"]["relu"]
        assert old in part[place]
        part[place] = part[place].replace(old, new)

    return edit


def _set(**changes: Any) -> Edit:
    return lambda body: body.update(changes)


def _flow(text: str) -> Edit:
    return lambda body: body["opcode_flow_map"].update({"Or": f"opcode_flow<{text}>"})


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            _set(in_place={"relu": "relo"}),
            "in_place.relu: `relo` is no kernel; `axiloom spec kernels` lists those with a name; "
            "did you mean `relu`?",
        ),
        (
            _set(in_place={"relu": "linalg.add"}),
            "in_place.relu: linalg.add is no kernel of one input, element by element, such as relu",
        ),
        (
            _set(in_place={"rely": "relu"}),
            "device.act[0]: compute relu: unknown kernel `relu`; did you mean `rely`?; `in_place` has rely",
        ),
        (
            _opcode("send_literal(66)", "send_literal(32)"),
            "kernels.relu.opcode_map.c: literal 32 (0x20) is taken by `act`; the device could not tell them "
            "apart",
        ),
        (
            _opcode("send_dim(n)", "send_dim(m)"),
            "kernels.relu.opcode_map.dims[1]: send_dim(m): unknown dim `m`; they are n",
        ),
        (_opcode("recv(C)", "recv(C"), "kernels.relu.opcode_map: column 139: expected `)`, not `]`"),
        (
            lambda body: body["kernels"]["relu"].update(accel_size=[4096]),
            "kernels.relu.accel_size: a 4096 tile of A (int32) has 4096 words; its buffer holds 1024",
        ),
        (
            lambda body: body["kernels"]["relu"].update(bits=["c"]),
            "kernels.relu: unknown key `bits`",
        ),
        (
            _flow("((sI sF cO act) rO)"),
            "opcode_flow_map.Or: ((sI sF cO act) rO) computes a wrong O under every order of the loops",
        ),
        (
            _flow("(sI sF cO act rO)"),
            "opcode_flow_map.Or: (sI sF cO act rO) computes a wrong O under every order of the loops",
        ),
        (
            _flow("((sI sF cO) act act rO)"),
            None,
        ),
        (
            _set(in_place={"relu": {"iterators": {"n": "parallel"}, "operands": {"A": ["n"], "C": ["n"]},
                                    "body": "max(A, 0.5)"}}),
            "in_place.relu.body: 0.5 is no int32, which the device computes in",
        ),
    ],
)  # fmt: skip
def test_fault(tmp_path: Path, edit: Edit, expected: str | None) -> None:
    found = faults(tmp_path, edit)
    if expected is None:
        assert found == []
    else:
        assert f"{HERE}.{expected}" in found


def test_one_fault_is_said_once(tmp_path: Path) -> None:
    found = faults(tmp_path, lambda body: body["dma_config"].update(lengthWidth=40))
    assert len(found) == 1


def test_the_model_takes_the_opcodes_of_all_kernels() -> None:
    model = FunctionalModel(isa.load(EXAMPLE))
    sent = model.feed(np.array([64, 3, 65, 5, (1 << 32) - 7, 0, 66, 67], np.uint32))
    assert list(sent) == [5, 0, 0]
    model.feed([68])
    assert model.code == DeviceError.UNKNOWN_OPCODE
    assert "0x20 act" in (model.error or "")
    assert "0x41 sA" in (model.error or "")


def test_in_place_the_result_stays_in_the_buffer() -> None:
    """What a kernel in place makes of the sums takes their place: a second store sends the same."""
    model = FunctionalModel(isa.load(EXAMPLE))
    words = [16, 1 | 1 << 5 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 22]  # cfg: 1 x 1 taps, all steps 1
    words += [1, 1 | 1 << 11 | 2 << 21, 0, 0x00_00_FD_05]  # sI: ic 1, ih 1, iw 2: 5, -3
    words += [2, 1 | 1 << 11, 2, 4, 1 | 2 << 11]  # sF: one filter of 2; cO: oh 1, ow 2
    assert list(model.feed(words)) == []
    assert list(model.feed([32, 8])) == [10, 0]


def test_no_engine_of_ours_has_several() -> None:
    with pytest.raises(SpecError, match="no engine of ours has several kernels"):
        check_engine(isa.load(EXAMPLE))
