"""The parts of a report as types. ``report.schema.json`` beside this file says what each key means.

A report is JSON: it comes back from files, from sweeps and from other processes. So its parts are
dictionaries with known keys. Where the keys are names of counters, sections or tools, a part is a plain
dictionary.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Side = Literal["stream", "array"]
Kernel = Literal["loops", "neon"]
"""What the CPU alone runs: plain loops by the compiler, or products by hand."""
Counts = dict[str, int]


class Hang(TypedDict):
    """Of a run that the watchdog stopped: the diagnosis, titles and texts, and what to try."""

    message: str
    facts: list[list[str]]
    remedies: list[str]


class Outcome(TypedDict):
    """``result``: the outputs against the reference."""

    matches: bool | None
    mismatches: int
    elements: int
    first: str | None
    exit_code: int
    compared: NotRequired[str]
    largest: NotRequired[float]
    reference: NotRequired[str]
    outside: NotRequired[str]
    diagnosis: NotRequired[list[str]]
    hang: NotRequired[Hang]


class Bound(TypedDict):
    """A lower bound in fabric cycles, and how far above it a run was."""

    cycles: int
    ratio: float | None
    by: Side
    stream_cycles: int


class Limit(Bound):
    """``limit``: of a whole run."""

    array_cycles: int | None
    words_per_cycle: int
    macs_per_cycle: int
    multiply_adds: int | None
    call_cycles: NotRequired[int]
    call_ratio: NotRequired[float | None]
    calls: NotRequired[list[int]]
    call_limit: NotRequired[int]
    alone_cycles: NotRequired[int]
    """What the device needs for a call if the CPU takes no time, with the latencies of the board."""
    at_once_cycles: NotRequired[int]
    """... if the memory answers at once, too."""


class LayerLimit(Bound):
    """Of one layer on its accelerator."""

    array_cycles: int
    words_in: int
    words_out: int


class Gain(TypedDict):
    """How many times as fast a run would be with a remedy, by the cost model."""

    times: float
    at_most: bool


class Tried(TypedDict):
    """``tried``: a run with a remedy beside the options that were given."""

    options: str
    cycles: int | None
    times: float | None
    said: str


class Loss(TypedDict):
    """One class of fabric cycles."""

    loss: str
    title: str
    definition: str
    cycles: int
    share: float
    remedies: list[str]
    gains: NotRequired[dict[str, Gain]]


class FunctionTime(TypedDict):
    """CPU cycles of one function of the program."""

    name: str
    cycles: int
    waiting: int


class Transfers(TypedDict):
    """The transfers of one size on one channel."""

    channel: Literal["mm2s", "s2mm"]
    bytes: int
    count: int
    cycles: int


class ErrorBand(TypedDict):
    """``fidelity``: how far a board's profile is from measurements."""

    source: str
    task_clock_mean: float
    task_clock_worst: float
    l1d_mean: float
    text: str


class Clocks(TypedDict):
    cpu_hz: int
    fabric_hz: int


class Setup(TypedDict):
    """What a run says of itself in ``config``."""

    problem: str
    accelerator: str
    spec_hash: str
    flow: NotRequired[str]
    loop_order: NotRequired[str]
    tile: NotRequired[str]
    pipeline: NotRequired[str]
    wait: NotRequired[str]
    data_type: str
    driver_hash: str
    offload: NotRequired[Literal["auto", "all"]]
    offload_from: NotRequired[int]
    select: NotRequired[str]
    select_because: NotRequired[str]
    weights: NotRequired[str]
    weights_hash: NotRequired[str]


class Config(Setup):
    """``config``, with what stands there."""

    rtl: str
    sim: str
    board: str
    clocks: Clocks
    stream_width: int
    dma: Literal["simple", "sg", "fifo"]
    memory_port: Literal["plain", "coherent"]
    guessed: list[str]
    """Keys of the specification that nobody has made sure of: what rests on them is a guess, too."""


class Choice(TypedDict):
    """``choice``: what nobody had said, and what the cost model took for it."""

    chosen: dict[str, str]
    predicted_ms: float
    published_ms: float | None
    calls: NotRequired[int]
    """Of the driver in the program that it was chosen for, if more than one."""


class Alone(TypedDict):
    """``cpu``: the same on the simulated CPU alone."""

    kernel: Kernel
    counters: Counts
    result: Outcome
    calls: NotRequired[list[int]]
    """Fabric cycles of each call, where there were several."""


class Use(TypedDict):
    """How a layer uses its accelerator."""

    flow: str
    tile: list[int]
    pipeline: str
    note: str | None


class LayerRow(TypedDict):
    """One layer of a network."""

    layer: int
    function: str
    place: Literal["accelerator", "cpu"]
    accelerator: str | None
    location: str
    reason: str | None
    multiply_adds: int
    ops: list[int]
    use: Use | None
    limit: LayerLimit | None
    begin_ms: NotRequired[float]
    """From the run's start; absent where layers come from a store."""
    ms: float
    share: float
    alone_ms: NotRequired[float | None]


class OnCpu(Alone):
    """A run on the CPU alone; `kept`: it was in the store, which the report's ``simulation`` says."""

    kept: NotRequired[bool]


class NetworkAlone(OnCpu):
    """A network on the simulated CPU alone; its rows go to the report's ``network``."""

    layers: list[LayerRow]


class Offload(TypedDict):
    """Time on the accelerators and on the host."""

    layers: int
    ms: float
    host_ms: float
    share: float
    limit_cycles: int
    alone_ms: float | None
    speed_up: float | None
    end_to_end: float | None


class ArenaBuffer(TypedDict):
    """A tensor between layers."""

    name: str
    offset: int
    size: int
    first: int
    last: int


class Arena(TypedDict):
    """The memory that tensors between layers share."""

    peak: int
    unshared: int
    buffers: list[ArenaBuffer]


class Weights(TypedDict):
    bytes: int
    arrays: int


class KeptLayers(TypedDict):
    """Of a network that was run with a store of layers: how many were simulated, and which were not.

    `off`: kept times over those of this run, less 1, of all layers that were both kept and simulated;
    `off_most`: of the layer whose time is farthest.
    """

    simulated: int
    kept: list[int]
    other_data: list[int]
    compared: int
    off: float | None
    off_most: float | None
    off_layer: int | None


class Selected(TypedDict):
    """Of one product, with ``--select egraph``: where it went, and the cycles that were weighed."""

    location: str
    title: str
    place: str
    ops: list[int]
    form: str
    cycles: int
    candidates: dict[str, int]
    refused: dict[str, str]


class NetworkPart(TypedDict):
    """``network``: its layers, and the memory between them."""

    layers: list[LayerRow]
    cpu_layers: list[LayerRow] | None
    offload: Offload
    arena: Arena
    weights: Weights
    stopped_after: int | None
    selection: NotRequired[list[Selected]]
    kept: NotRequired[KeptLayers]


class Block(TypedDict):
    """A part of the simulated system; `facts` are what is known of it, a line each."""

    name: str
    kind: Literal["cpu", "cache", "bus", "memory", "dma", "accelerator"]
    facts: list[str]


class Edge(TypedDict):
    """What connects two blocks. `bits` is None where the profile does not say how wide it is."""

    source: str
    target: str
    what: str
    bits: int | None
    there: int | None
    """Bytes from `source` to `target`, None where they are not counted."""
    back: int | None
    count: int | None
    """Accesses or transfers."""


class SystemPart(TypedDict):
    """``system``: what was simulated, and what moved in it."""

    blocks: list[Block]
    edges: list[Edge]


class Report(TypedDict):
    """What one run reports."""

    schema: int
    result: Outcome
    counters: Counts
    fabric: Counts
    limit: Limit
    losses: list[Loss]
    activity: dict[str, Counts]
    functions: list[FunctionTime]
    transfers: list[Transfers]
    memory: dict[str, int | None]
    fidelity: ErrorBand | None
    simulation: dict[str, float]
    config: Config
    versions: dict[str, str]
    seed: int
    stale: list[str]
    mistakes: NotRequired[list[str]]
    outside: NotRequired[list[str]]
    breaches: NotRequired[list[str]]
    """Rules of buses."""
    pauses: NotRequired[str]
    """What the run under pauses gave, or why there was none; empty: nobody asked."""
    console: NotRequired[str]
    notes: NotRequired[list[str]]
    cpu: NotRequired[Alone]
    advice: NotRequired[str]
    choice: NotRequired[Choice]
    room: NotRequired[str]
    system: NotRequired[SystemPart]
    tried: NotRequired[list[Tried]]
    proved: NotRequired[list[str]]
    network: NotRequired[NetworkPart]
