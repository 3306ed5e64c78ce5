"""The functional models of convolutions against NumPy and PyTorch, and their errors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import conv_operands, conv_specs, convolutions
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.streams import Matrix, packed_tile

from axiloom import isa
from axiloom.isa import AcceleratorSpec, Opcode
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import (
    Clear,
    DimField,
    Load,
    Recv,
    Requantise,
    Scope,
    Send,
    SendDim,
    SendLiteral,
    SetDims,
)
from axiloom.isa.kernels.forms import IMAGE, WINDOW
from axiloom.isa.numerics import INT8
from axiloom.isa.opcode_map.model import FunctionalModel


def run(
    spec: AcceleratorSpec,
    flow: str,
    order: tuple[str, ...],
    tile: dict[str, int],
    problem: Convolution,
    operands: dict[str, Matrix],
) -> Matrix:
    """What the model computes; every tile that comes back is dense, and ends in zeros and TLAST."""
    model = FunctionalModel(spec)
    result = np.zeros((problem.oc, *problem.output), dtype=np.int32)
    for step in conv_program(spec, flow, order, tile, problem, operands):
        words = model.feed(step.words)
        assert model.error is None
        if step.receives is None:
            assert words.size == 0
            continue
        part = result[step.receives]
        assert words.size == part.size + -part.size % spec.link.beat_words
        assert list(np.flatnonzero(model.tlast)) == [words.size - 1]
        assert not words[part.size :].any()
        result[step.receives] += words[: part.size].view(np.int32).reshape(part.shape)
    return np.asarray(result, dtype=np.int64)


@pytest.mark.every(2)
@pytest.mark.parametrize("form", [IMAGE, WINDOW], ids=lambda form: form.name)
@given(data=st.data())
@settings(max_examples=60)
def test_convolution_equals_numpy(form: isa.kernels.Form, data: st.DataObject) -> None:
    """Any stride, padding, dilation, tile, flow and order is the convolution mod 2^32."""
    spec = data.draw(conv_specs(form))
    problem, tile = data.draw(convolutions(spec))
    operands = data.draw(conv_operands(spec, problem))
    expected = problem.reference(operands["I"], operands["F"])
    flow = data.draw(st.sampled_from(sorted(spec.flows)))
    order = data.draw(st.sampled_from(isa.loop_orders(spec, flow)))
    assert np.array_equal(run(spec, flow, order, tile, problem, operands), expected)


BUILTIN = [
    (name, encoding, kind, (32, 64, 128)[(number + place) % 3])
    for number, (name, encoding) in enumerate(
        product(isa.builtins("linalg.conv_2d_nchw_fchw"), ("bitmask", "literals"))
    )
    for place, kind in enumerate(("int8", "int16", "int32"))
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("name", "encoding", "kind", "width"), BUILTIN)
def test_builtin_convolutions(name: str, encoding: str, kind: str, width: int) -> None:
    spec = isa.revise(isa.builtin(name, None, kind, encoding), stream_width=width)
    problem = Convolution(5, 8, 9, 3, 3, 3, stride=(2, 1), before=(1, 1), after=(1, 1))
    tile = (
        {"oc": 2, "oh": 3, "ow": 4, "ic": 5}
        if spec.form is IMAGE
        else dict.fromkeys(("oc", "oh", "ow", "ic"), 1)
    )
    info, random = np.iinfo(kind), np.random.default_rng(1)
    operands = {
        "I": random.integers(info.min, info.max, (5, 8, 9), endpoint=True),
        "F": random.integers(info.min, info.max, (3, 5, 3, 3), endpoint=True),
    }
    expected = problem.reference(operands["I"], operands["F"])
    for flow in spec.flows:
        order = isa.loop_orders(spec, flow)[0]
        assert np.array_equal(run(spec, flow, order, tile, problem, operands), expected)


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_convolution_equals_pytorch(data: st.DataObject) -> None:
    torch = pytest.importorskip("torch")
    spec = data.draw(conv_specs(IMAGE)).replace(data_type=INT8)
    problem, tile = data.draw(convolutions(spec))
    operands = data.draw(conv_operands(spec, problem))
    above, left = problem.before
    below, right = problem.after
    image = torch.nn.functional.pad(torch.from_numpy(operands["I"][None]), (left, right, above, below))
    filters = torch.from_numpy(operands["F"])
    whole = torch.nn.functional.conv2d(image, filters, stride=problem.stride, dilation=problem.dilation)
    flow = sorted(spec.flows)[0]
    found = run(spec, flow, isa.loop_orders(spec, flow)[0], tile, problem, operands)
    assert np.array_equal(found, whole[0].numpy())


# --- conv_v4 by hand ----------------------------------------------------------------------------------

_CFG = [16, 1 | 1 << 5 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 22]
_IMAGE = [1, 1 | 2 << 11 | 2 << 21, 0, 1, 2, 3, 4]  # one channel of 2 x 2
_FILTER = [2, 1 | 1 << 11, 10]
_V3 = [32, 1, 16, 1]  # windows of one element


@pytest.mark.parametrize(
    ("name", "words", "code", "message", "accepted"),
    [
        (
            "conv_v4",
            [0],
            DeviceError.UNKNOWN_OPCODE,
            "UNKNOWN_OPCODE at word 1: 0x0 is no opcode; they are 0x10 cfg, 0x1 sI, 0x2 sF, 0x4 cO, 0x8 rO",
            1,
        ),
        (
            "conv_v3",
            [*_V3, 2 | 128],
            DeviceError.UNKNOWN_OPCODE,
            "UNKNOWN_OPCODE at word 5: 0x82 is no opcode; they are 0x20 sH, 0x10 sC, 0x1 sF, 0x2 sI, 0x4 cO, "
            "0x40 save, 0x8 rO, 0x46 sIcO, and combinations of bits",
            5,
        ),
        ("conv_v3", [0], DeviceError.UNKNOWN_OPCODE, None, 1),
        (
            "conv_v4",
            [16, 1 | 0 << 5 | 1 << 10],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: fw = 0 is below 1",
            2,
        ),
        ("conv_v4", [16, 1 | 1 << 5], DeviceError.BAD_DIMS, "BAD_DIMS at word 2: sh = 0 is below 1", 2),
        (
            "conv_v4",
            [16, _CFG[1] | 16 << 22],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: dw = 17 is above 15",
            2,
        ),
        (
            "conv_v4",
            [1, 8 | 64 << 11 | 33 << 21, 0],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 3: 8x64x33: I does not fit its buffer of 16384 words",
            3,
        ),
        (
            "conv_v4",
            [*_CFG, 2, 9 | 1025 << 11],
            DeviceError.BAD_DIMS,  # 9 filters take the room of 16
            "BAD_DIMS at word 4: 9x1025x1x1: F does not fit its buffer of 16384 words",
            4,
        ),
        (
            "conv_v4",
            [*_CFG, *_IMAGE, *_FILTER, 4, 33 | 57 << 11],
            DeviceError.BAD_DIMS,  # 57 columns take the room of 64
            "BAD_DIMS at word 14: 1x33x57: O does not fit its buffer of 16384 words",
            14,
        ),
        (
            "conv_v4",
            [*_CFG, *_FILTER, 4, 1 | 1 << 11],
            DeviceError.NOT_LOADED,
            "NOT_LOADED at word 7: cO computes, but I is not loaded",
            7,
        ),
        (
            "conv_v4",
            [*_CFG, *_IMAGE, 2, 1 | 2 << 11, 10, 11, 4, 1 | 1 << 11],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 15: cO: I has shape (1, 2, 2), the dims now say (2, 2, 2)",
            15,
        ),
        (
            "conv_v4",
            [*_CFG, *_IMAGE, *_FILTER, 16, 2 | _CFG[1] & ~31, 4, 1 | 1 << 11],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 16: cO: F has shape (1, 1, 1, 1), the dims now say (1, 1, 2, 1)",
            16,
        ),
        (
            "conv_v4",
            [*_CFG, *_IMAGE, *_FILTER, 16, _CFG[1] + (1 << 14), 4, 1 | 1 << 11],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 16: cO: I was loaded under sw 1, which now is 2",
            16,
        ),
        (
            "conv_v4",
            [*_CFG, *_IMAGE, *_FILTER, 4, 1 | 1 << 11, 4, 1 | 2 << 11],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 16: cO: O has shape (1, 1, 1), the dims now say (1, 1, 2)",
            16,
        ),
        (
            "conv_v4",
            [*_CFG, *_IMAGE, *_FILTER, 4, 1 | 1 << 11, 2, 2 | 1 << 11, 1, 1, 8],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 19: rO: O has shape (1, 1, 1), the dims now say (2, 1, 1)",
            19,
        ),
        (
            "conv_v3",
            [*_V3, 2, 7, 4],
            DeviceError.NOT_LOADED,
            "NOT_LOADED at word 7: cO computes, but F is not loaded",
            7,
        ),
        (
            "conv_v3",
            [*_V3, 3, 7, 7, 16, 2, 4],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 10: cO: I has shape (1, 1, 1), the dims now say (2, 1, 1)",
            10,
        ),
        (
            "conv_v3",
            [32, 7, 16, 513, 1],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 5: 1x513x7x7: F does not fit its buffer of 25088 words",
            5,
        ),
        (
            "conv_v3",
            [*_V3, *16384 * [64], 64],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 16389: save: 16384 results are saved, and the buffer of O holds no more",
            16389,
        ),
    ],
)
def test_errors(name: str, words: list[int], code: DeviceError, message: str | None, accepted: int) -> None:
    model = FunctionalModel(isa.builtin(name))
    assert model.feed([*words, 8]).size == 0
    assert (model.code, model.accepted) == (code, accepted)
    assert model.error == message if message else model.error is not None


def test_settings_stay_and_a_word_sets_only_what_it_names() -> None:
    model = FunctionalModel(isa.builtin("conv_v4"))
    model.feed([*_CFG, *_IMAGE, *_FILTER, 4, 2 | 2 << 11])
    assert model.feed([8]).tolist() == [10, 20, 30, 40]
    assert (
        model.feed([1, 1 | 2 << 11 | 2 << 21, 1 | 1 << 8, 5, 6, 7, 8]).size == 0
    )  # one row, one column left
    assert model.feed([4, 2 | 3 << 11, 8]).tolist() == [0, 0, 0, 0, 50, 60]
    assert model.error is None


def test_padding_and_dilation_may_change_between_load_and_compute() -> None:
    model = FunctionalModel(isa.builtin("conv_v4"))
    model.feed([*_CFG, *_IMAGE, 16, 2 | (_CFG[1] & ~31), 2, 1 | 1 << 11, 1, 100])
    assert model.feed([4, 1 | 2 << 11, 8]).tolist() == [301, 402]
    model.feed([16, 2 | (_CFG[1] & ~31) + (1 << 18)])  # dh = 2: the second row of the filter meets padding
    assert model.feed([4, 1 | 2 << 11, 8]).tolist() == [1, 2]
    assert model.error is None


def test_a_cleared_result_goes_out_as_zeros_with_the_sizes_of_now() -> None:
    model = FunctionalModel(isa.builtin("conv_v4"))
    assert np.array_equal(model.feed([8]), np.zeros(16 * 8 * 8))
    assert np.array_equal(model.feed([*_CFG, *_FILTER, 8]), np.zeros(8 * 8))


def test_any_combination_of_bits_acts_in_the_published_order() -> None:
    """16, 32, 2, 1, 4, 64, 8: set iC, set fH, input, filter, compute, save, send."""
    model = FunctionalModel(isa.builtin("conv_v3"))
    assert model.feed([127, 2, 1, 3, 4, 5, 6]).tolist() == [3 * 5 + 4 * 6]
    assert list(model.tlast) == [True]
    assert model.feed([7 | 64, 1, 1, 1, 1]).size == 0  # saved, not sent
    assert model.feed([4 | 64, 64 | 8]).tolist() == [2, 2, 0]
    assert model.feed([8]).size == 0  # nothing is saved
    assert model.error is None


def test_a_combination_of_bits_on_a_wide_stream() -> None:
    """The words of both settings share the opcode's beat; the window and the filter begin on beats."""
    spec = isa.revise(isa.builtin("conv_v3", None, "int8"), stream_width=128)
    window, filters = np.arange(1, 19).reshape(2, 3, 3), np.full((1, 2, 3, 3), 2)
    words = [127, 2, 3, 0, *packed_tile(spec, "I", window), *packed_tile(spec, "F", filters)]
    model = FunctionalModel(spec)
    assert model.feed(words).tolist() == [2 * 171, 0, 0, 0]
    assert list(model.tlast) == [False] * 3 + [True]


def test_elements_are_dense_and_filters_begin_on_beats() -> None:
    spec = isa.builtin("conv_v4", None, "int8")
    assert spec.words_of("I", (3, 3, 3)) == 7
    assert spec.words_of("F", (5, 3, 3, 3)) == 5 * 7
    assert spec.words_of("O", (3, 5, 5)) == 75
    assert spec.words_of("O", (3, 5, 5), INT8) == 19
    wide = isa.revise(spec, stream_width=128)
    assert wide.words_of("I", (3, 3, 3)) == 8
    assert wide.words_of("O", (3, 5, 5)) == 76


def test_a_window_requantises_every_saved_result() -> None:
    """As many elements go out as were saved, all of one channel; none, if none was."""
    spec = _window_with_post()
    model = FunctionalModel(spec)
    program = [*_V3, 128, 5, 1, 256, 0 | 0 << 8 | 127 << 16, 1, 10]  # bias 5, scale 1
    assert not model.feed(program).size
    assert not model.feed([2, 3, 70 - 2, 2, 4, 70 - 2]).size  # two windows, each computed and saved
    assert model.feed([512]).tolist() == [35 | 45 << 8]
    assert model.tlast.tolist() == [True]
    assert not model.feed([512]).size
    assert model.error is None


def _window_with_post() -> AcceleratorSpec:
    spec = isa.builtin("conv_v3", data_type="int8")
    settings = (SendDim((DimField("zp", 0), DimField("lo", 8), DimField("hi", 16))),)
    opcodes = [
        *spec.opcodes.values(),
        Opcode("sP", (SendLiteral(128), Send("P")), (Load("P"),)),
        Opcode("cfgP", (SendLiteral(256), *settings), (SetDims(),)),
        Opcode("qO", (SendLiteral(512), Recv("O")), (Requantise("O"), Clear("O"))),
    ]
    flows = {**spec.flows, "q": Scope(("sP", Scope(("sF", "sI", "cO")), "save", "qO"))}
    return isa.revise(
        spec,
        opcodes={opcode.name: opcode for opcode in opcodes},
        buffers={**spec.buffers, "P": 2},
        flows=flows,
        init_opcodes=("cfgP", *spec.init_opcodes),
        post=True,
    )
