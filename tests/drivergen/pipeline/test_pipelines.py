"""Any problem, accelerator, flow and choice of passes: the driver computes what NumPy does.

The host's runtime reads a packet as late as a driver allows, sees only what was cleaned, and refuses a
receive that comes too late; so it also finds what is packed over too early and what is sent dirty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.drivergen import host

from axiloom import isa
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.pipeline.pipelines import OPTIMISATIONS
from axiloom.isa import AcceleratorSpec
from axiloom.plan.caches import Caches

COPYING = OPTIMISATIONS[:-2]
DTYPES = ("int8", "int16", "int32")


@dataclass(frozen=True)
class Case:
    name: str
    dtype: str
    width: int
    flow: str
    sizes: tuple[int, int, int]
    pipeline: str
    window: int
    tile: tuple[int, int, int] | None
    caches: Caches

    @property
    def spec(self) -> AcceleratorSpec:
        spec = isa.revise(isa.builtin(self.name, data_type=self.dtype), stream_width=self.width)
        return isa.revise(spec, dma=replace(spec.link.dma, input_buffer_size=self.window))

    def check(self) -> host.Device:
        _, device = host.check(
            matmul_mlir(*self.sizes, self.dtype),
            self.spec,
            flow=self.flow,
            tile=self.tile,
            pipeline=self.pipeline,
            caches=self.caches,
        )
        return device


@st.composite
def cases(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from(["v1_4", "v2_4", "v3_4", "v3_8", "v4_16"]))
    sizes = draw(st.tuples(*[st.integers(1, 40)] * 3))
    names = draw(st.sets(st.sampled_from(COPYING), min_size=1))
    pipeline = draw(st.sampled_from(["published", "coalesced", "copying", ",".join(sorted(names))]))
    tile = draw(st.sampled_from([(16, 16, 16), (48, 48, 48), (16, 32, 48)])) if name == "v4_16" else None
    return Case(
        name,
        draw(st.sampled_from(DTYPES)),
        draw(st.sampled_from([32, 64, 128])),
        draw(st.sampled_from(sorted(isa.builtin(name).flows))),
        sizes,
        pipeline,
        draw(st.sampled_from([1 << 15, 1 << 16] if tile else [1 << 10, 1 << 12, 1 << 16])),
        tile,
        draw(st.sampled_from([Caches(), Caches(2048, 2)])),
    )


@given(cases())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_pipeline(case: Case) -> None:
    case.check()


def test_an_iteration_in_parts() -> None:
    """Where two iterations do not fit the window, operands travel in packets of their own, and overlap."""
    case = Case("v4_16", "int32", 64, "Cs", (40, 96, 140), "copying", 1 << 15, (48, 48, 48), Caches())
    assert case.window < 2 * 2 * 48 * 48 * 4
    sent = case.check().sent
    parts = 2 * 1 * 2 * 3  # A and B of each tile: 1 x 2 x 3 of them
    assert len([words for words in sent if words >= 48 * 48]) == 2 * parts  # in two runs
    driver = compile_mlir(matmul_mlir(*case.sizes), case.spec, flow="Cs", tile=case.tile, pipeline="copying")
    assert driver.c.count("TRY(dma_packet_wait());") == 2
