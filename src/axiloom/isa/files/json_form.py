"""Specifications on disk: the paper's JSON form to `AcceleratorSpec` and back.

Reading never stops at the first fault. A part that cannot be read is listed, replaced by a neutral value
and named in :attr:`Draft.broken`, so that the checks that do not need it still run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.wording.names import hint, shortened
from axiloom.isa import numerics
from axiloom.isa.check import check
from axiloom.isa.contract.spec import AcceleratorSpec, Link
from axiloom.isa.contract.types import (
    WORD_BITS,
    Clear,
    Compute,
    DeviceAction,
    DimField,
    DmaConfig,
    HostAction,
    Load,
    Opcode,
    Recv,
    Requantise,
    Save,
    Scope,
    Send,
    SendDim,
    SendIdx,
    SetDims,
    Skip,
    Store,
    TileRule,
)
from axiloom.isa.files import grammar
from axiloom.isa.files.kernel_form import read_kernel, write_kernel
from axiloom.isa.files.rtl_form import read_rtl, write_rtl
from axiloom.isa.kernels.language.kernel import Kernel, KernelError
from axiloom.isa.kernels.named import KERNELS

if TYPE_CHECKING:
    import jsonschema

SCHEMA_PATH = Path(__file__).parents[1] / "specs" / "accelerator.schema.json"
_DEEPEST = 16
"""Objects and lists inside each other: a specification has five."""
_DEVICE_FORMS = (
    "`load X`, `compute`, `compute KERNEL`, `store X`, `requantise X`, "  # on one line in a message
    "`clear X`, `save`, `set dims` or `skip`"
)
_DMA_KEYS = {
    "id": "id",
    "address": "address",
    "inputAddress": "input_address",
    "inputBufferSize": "input_buffer_size",
    "outputAddress": "output_address",
    "outputBufferSize": "output_buffer_size",
    "lengthWidth": "length_width",
    "scatterGather": "scatter_gather",
    "coherent": "coherent",
}
_SAID_IF_TRUE = ("scatterGather", "coherent")
_OF_THE_WHOLE = (
    "name",
    "version",
    "description",
    "dma_config",
    "stream_width",
    "post",
    "bits",
    "rtl",
    "guessed",
)
"""Keys that a further kernel of an accelerator has not."""
_ADDRESSES = ("address", "inputAddress", "outputAddress")


@dataclass
class Draft:
    """An accelerator as far as it could be read, and what could not be."""

    place: str
    """Where it stands in the file: ``accelerators[0]``."""
    spec: AcceleratorSpec
    faults: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Places (``macs``, ``device.sA``) that hold neutral values in `spec`, because what stood there cannot be
    read."""


@cache
def schema() -> dict[str, Any]:
    """The published JSON Schema of a file."""
    loaded: dict[str, Any] = json.loads(SCHEMA_PATH.read_text())
    return loaded


class _Odd(str):
    """A number in the file that no number here can be."""


def _integer(text: str) -> int | _Odd:
    """Python converts no more than 4,300 digits; what has more than 20 has more than 64 bits."""
    return int(text) if len(text) <= 20 else _Odd(shortened(text))


def unusable(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Values that JSON has and no specification: each with its place and what is accepted."""
    place = f"{path(at)}: " if at else ""
    if len(at) > _DEEPEST:
        yield f"{path(at[:3])}: more than {_DEEPEST} things inside each other"
    elif isinstance(value, _Odd) or (isinstance(value, float) and not abs(value) < 1 << 64):
        yield f"{place}{value} is no number of a specification: at most 64 bits"
    elif isinstance(value, str) and _halved(value):
        yield f"{place}{shortened(ascii(value))} holds half a surrogate pair, which is no character"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if _halved(key):
                yield f"{place}the key {shortened(ascii(key))} holds half a surrogate pair"
            else:
                yield from unusable(inner, (*at, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from unusable(inner, (*at, number))


def _halved(text: str) -> bool:
    """JSON's escapes can write such code points; no file can hold them."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _matches(_: Any, pattern: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """A pattern's `$` is the end of the text: Python's own would leave a newline behind it."""
    if isinstance(value, str) and re.fullmatch(pattern, value) is None:
        import jsonschema

        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


@cache
def _validator() -> Any:
    """Made at first use: a simulator's process imports this module, and reads no files."""
    import jsonschema

    return jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _matches})


# --- reading -----------------------------------------------------------------------------------------


def read(text: str) -> tuple[list[Draft], list[str]]:
    """All accelerators of a file, and the faults that lie outside of any accelerator."""
    faults: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            if key in result:
                faults.append(f"key `{key}` stands twice in one object; only one of the values can count")
            result[key] = value
        return result

    try:
        document = json.loads(text, object_pairs_hook=unique, parse_int=_integer, parse_constant=_Odd)
    except json.JSONDecodeError as error:
        return [], [f"not JSON: {error}"]
    except RecursionError:
        return [], ["not JSON: too many things inside each other"]
    if values := list(unusable(document)):
        return [], [*faults, *values]
    errors = sorted(_validator()(schema()).iter_errors(document), key=lambda e: list(map(str, e.path)))
    bodies = document.get("accelerators") if isinstance(document, dict) else None
    bodies = bodies if isinstance(bodies, list) else []
    cpu = document.get("cpu") if isinstance(document, dict) else None
    cpu = cpu if isinstance(cpu, dict) else {}
    drafts = []
    for index, body in enumerate(bodies):
        own = [e for e in errors if list(e.absolute_path)[:2] == ["accelerators", index]]
        drafts.append(_read_accelerator(index, body if isinstance(body, dict) else {}, own, cpu))
    outside = [e for e in errors if len(e.absolute_path) < 2 or e.absolute_path[0] != "accelerators"]
    return drafts, faults + [fault for e in outside for _, fault in _schema_faults(e)]


def path(parts: Iterable[str | int]) -> str:
    """JSON path of a place: ``accelerators[0].opcode_map``."""
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts)
    return text.removeprefix(".")


def _schema_faults(error: jsonschema.ValidationError) -> list[tuple[str | None, str]]:
    """The faults in one schema error, each with the key of an accelerator that it breaks, if any."""
    parts = list(error.absolute_path)
    at = f"{path(parts)}: " if parts else ""
    broken = str(parts[2]) if len(parts) > 2 else None
    value: Any = error.instance
    shown = shortened(json.dumps(value, ensure_ascii=False))
    if error.validator == "required":
        missing = [k for k in error.validator_value if k not in value]
        return [(broken or k, f"{at}`{k}` is missing") for k in missing]
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        extra = [k for k in value if k not in known]
        return [(None, f"{at}unknown key `{shortened(k)}`{hint(k, known)}") for k in extra]
    if error.validator == "anyOf":
        return [
            (broken, f"{at}{shortened(repr(value))} is not an address: an integer from 0 or a string `0x...`")
        ]
    if error.validator == "minimum":
        return [(broken, f"{at}{shown} is too small: at least {error.validator_value}")]
    if error.validator == "pattern":
        return [
            (broken, f"{at}`{shortened(value)}` is not a name: letters, digits and `_.-`, a letter first")
        ]
    if error.validator == "type":
        expected = error.validator_value
        wanted = expected if isinstance(expected, str) else " or ".join(expected)
        return [(broken, f"{at}{shown} is not of type {wanted}")]
    if error.validator in ("minItems", "minProperties"):
        few = f"has {len(value)} entries: at least {error.validator_value}" if value else "is empty"
        return [(broken, f"{at}{few}")]
    if error.validator in ("maxItems", "maxProperties"):
        return [(broken, f"{at}has {len(value)} entries: at most {error.validator_value}")]
    return [(broken, f"{at}{shortened(error.message)}")]


def _read_accelerator(
    index: int, body: Mapping[str, Any], errors: Sequence[jsonschema.ValidationError], cpu: Mapping[str, Any]
) -> Draft:
    faults = dict.fromkeys(pair for error in errors for pair in _schema_faults(error))
    broken = {key for key, _ in faults if key}
    if not body:
        broken |= schema()["$defs"]["accelerator"]["properties"].keys()
    values = {
        attribute: read(body[key])
        for key, (attribute, read) in _LINK.items()
        if key in body and key not in broken
    }
    alone = "packets" in body  # its driver comes from another compiler
    spec = AcceleratorSpec(Link(name="?")) if alone else _NEUTRAL.replace(cpu=dict(cpu))
    draft = Draft(
        path(["accelerators", index]), spec.replace(**values), [fault for _, fault in faults], broken
    )
    if not alone:
        _Reader(draft, body, draft.spec).run()
    return draft


_LINK: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", str),
    "version": ("version", lambda said: said if isinstance(said, str) else json.dumps(said)),
    "description": ("description", str),
    "macs": ("macs", int),
    "stream_width": ("stream_width", int),
    "dma_config": ("dma", lambda values: _dma(values)),
    "packets": ("packets", lambda words: None if words is None else (int(words[0]), int(words[1]))),
    "rtl": ("rtl", read_rtl),
    "guessed": ("guessed", tuple),
}
"""What a file says of a link: key to attribute, and how it is read."""


_NEUTRAL = AcceleratorSpec.of(
    name="?",
    version="",
    description="",
    kernel="linalg.matmul",
    data_type=numerics.INT32,
    dims=("m", "n", "k"),
    data={"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")},
    opcodes={},
    flows={},
    selected_flow="",
    init_opcodes=(),
    dma=DmaConfig(),
    buffers={},
    tile=TileRule((1, 1, 1)),
    macs=1,
)


class _Reader:
    """Fills a draft from a JSON object, key by key: all but its link."""

    def __init__(self, draft: Draft, body: Mapping[str, Any], start: AcceleratorSpec) -> None:
        self._draft = draft
        self._body = body
        self.spec = start

    def run(self) -> AcceleratorSpec:
        self._set("selected_flow", "selected_flow", str)
        self._kernel()
        self._set("data_type", "data_type", self._data_type)
        self._set("dims", "dims", tuple)
        self._set("data", "data", lambda v: {operand: tuple(dims) for operand, dims in v.items()})
        self._set("accel_size", "tile", lambda v: TileRule(_integers(v)))
        self._set("tile", "tile", lambda v: replace(self.spec.tile, granule=_integers(v["granule"])))
        self._set("post", "post", bool)
        self._set("bits", "bits", tuple)
        self._opcodes()
        self._flows()
        self._sizes()
        self._in_place()
        self._kernels()
        self._draft.spec = self.spec
        return self.spec

    def _fault(self, place: str, what: str, breaks: str = "") -> None:
        """A fault at `place`, which breaks `breaks`, by default the same place."""
        self._draft.broken.add(breaks or place)
        self._draft.faults.append(f"{self._draft.place}.{place}: {what}")

    def _set(self, key: str, attribute: str, convert: Callable[[Any], Any]) -> None:
        if key not in self._body or key in self._draft.broken:
            return
        value = convert(self._body[key])
        if key not in self._draft.broken:
            self.spec = self.spec.replace(**{attribute: value})

    def _kernel(self) -> None:
        """A name, or an object that says it all."""
        written = self._body.get("kernel")
        if "kernel" in self._draft.broken or written is None:
            return
        if isinstance(written, str):
            self.spec = self.spec.replace(kernel=written)
            return
        try:
            kernel = read_kernel(written)
        except KernelError as error:
            self._fault("kernel", str(error))
            return
        self.spec = self.spec.replace(kernel=kernel.name, own_kernel=kernel)

    def _in_place(self) -> None:
        """Name to a kernel's name, or to a kernel that is written out."""
        kernels: dict[str, Kernel] = {}
        if "in_place" in self._draft.broken:
            return
        for name, written in self._body.get("in_place", {}).items():
            if isinstance(written, str):
                if written in KERNELS:
                    kernels[name] = KERNELS[written]
                else:
                    more = "`axiloom spec kernels` lists those with a name"
                    what = f"`{shortened(written)}` is no kernel; {more}{hint(written, KERNELS)}"
                    self._fault(f"in_place.{name}", what, "in_place")
                continue
            try:
                kernels[name] = read_kernel(written)
            except KernelError as error:
                self._fault(f"in_place.{name}", str(error), "in_place")
        self.spec = self.spec.replace(in_place=kernels)

    def _kernels(self) -> None:
        """Further kernels: each is read as an accelerator of its own, which it is but for what it shares."""
        if "kernels" in self._draft.broken:
            return
        uses = [self.spec.use]
        for name, body in self._body.get("kernels", {}).items():
            start = self.spec.replace(uses=(replace(_NEUTRAL.use, name=name, data_type=self.spec.data_type),))
            draft = Draft(f"{self._draft.place}.kernels.{name}", start)
            part = _Reader(draft, body, start).run()
            uses.append(part.use)
            if draft.faults:
                self._draft.faults += draft.faults
                self._draft.faults += [f"{draft.place}.{f}" for f in check.check(part, draft.broken)]
                self._draft.broken.add("kernels")
        self.spec = self.spec.replace(uses=uses)

    def _data_type(self, name: str) -> numerics.Numerics:
        try:
            return numerics.of(name)
        except numerics.NumericsError as error:
            self._fault("data_type", str(error))
            return numerics.INT32

    def _opcodes(self) -> None:
        host: dict[str, Opcode] = {}
        device: dict[str, tuple[DeviceAction, ...]] = {}
        if "opcode_map" not in self._draft.broken:
            try:
                host = grammar.parse_opcodes(self._body["opcode_map"], self.spec.operands)
            except grammar.GrammarError as error:
                self._fault("opcode_map", str(error))
        if "device" not in self._draft.broken:
            device = {name: self._device(name, texts) for name, texts in self._body["device"].items()}
        if not {"opcode_map", "device"} & self._draft.broken:
            for name in (n for n in host if n not in device):
                self._fault("device", f"opcode `{name}` is missing: say what it does", path(["device", name]))
            for name in (n for n in device if n not in host):
                self._fault(path(["device", name]), f"unknown opcode `{name}`{hint(name, host)}")
        spec = self.spec
        opcodes = {
            name: replace(
                opcode,
                host=named_actions(opcode.host, spec.operands, spec.dims),
                device=device.get(name, ()),
            )
            for name, opcode in host.items()
        }
        self.spec = spec.replace(opcodes=opcodes)

    def _device(self, name: str, texts: Sequence[str]) -> tuple[DeviceAction, ...]:
        actions: list[DeviceAction] = []
        for index, text in enumerate(texts):
            action = parse_device_action(text)
            if action is None:
                what = f"`{text}` is not a device action: {_DEVICE_FORMS}"
                self._fault(path(["device", name, index]), what, path(["device", name]))
            else:
                actions.append(action)
        return tuple(actions)

    def _flows(self) -> None:
        flows: dict[str, Scope] = {}
        texts = {} if "opcode_flow_map" in self._draft.broken else self._body["opcode_flow_map"]
        for name, text in texts.items():
            try:
                flows[name] = grammar.parse_opcode_flow(text)
            except grammar.GrammarError as error:
                self._fault(path(["opcode_flow_map", name]), str(error))
        init = Scope(())
        if "init_opcodes" in self._body and "init_opcodes" not in self._draft.broken:
            try:
                init = grammar.parse_opcode_flow(self._body["init_opcodes"])
            except grammar.GrammarError as error:
                self._fault("init_opcodes", str(error))
        if init.depth > 1:
            self._fault("init_opcodes", "has inner scopes, but these opcodes are sent once")
        names = tuple(item for item in init.items if isinstance(item, str))
        self.spec = self.spec.replace(flows=flows, init_opcodes=names)

    def _sizes(self) -> None:
        """Buffers and multiply-adds, whose defaults follow from the tile."""
        spec = self.spec
        if {"accel_size", "tile", "data", "dims", "data_type"} & self._draft.broken:
            self._draft.broken |= {"buffers", "macs"} - self._body.keys()
        if "macs" not in self._draft.broken:
            macs = int(self._body["macs"]) if "macs" in self._body else default_macs(spec)
            spec = spec.replace(macs=macs)
        if "buffers" in self._body and "buffers" not in self._draft.broken:
            spec = spec.replace(buffers={o: int(words) for o, words in self._body["buffers"].items()})
        elif "buffers" not in self._draft.broken:
            spec = spec.replace(buffers=_default_buffers(spec))
        self.spec = spec


def default_macs(spec: AcceleratorSpec) -> int:
    """Parallel multiply-adds where the file gives none: 64, or what an (m, n) tile can use, or what a beat
    brings where the device makes one dot product at a time."""
    if spec.form.saves:
        return max(1, spec.link.stream_width // spec.data_type.bits)
    if spec.form.dense:
        return 64
    elements = prod((spec.tile.granule or spec.tile.size)[:2])
    return min(64, elements & -elements)


def _default_buffers(spec: AcceleratorSpec) -> dict[str, int]:
    """Room for one tile of the default size."""
    try:
        shapes = {operand: spec.operand_shape(operand) for operand in spec.operands}
        return {operand: max(1, spec.held_words(operand, shape)) for operand, shape in shapes.items()}
    except (KeyError, ValueError):  # dims and sizes that do not fit each other: the check says so
        return {}


def parse_device_action(text: str) -> DeviceAction | None:
    """The device action as a file writes it (``load A``), or None."""
    silent = (Compute(), Save(), SetDims(), Skip())
    plain: dict[str, DeviceAction] = {str(action): action for action in silent}
    with_operand: dict[str, type[Load | Store | Requantise | Clear]] = {
        "load": Load,
        "store": Store,
        "requantise": Requantise,
        "clear": Clear,
    }
    words = text.split()
    if len(words) == 2 and words[0] in with_operand:
        return with_operand[words[0]](words[1])
    if len(words) == 2 and words[0] == str(Compute()):
        return Compute(words[1])
    return plain.get(" ".join(words))


def named_actions(
    actions: Iterable[HostAction], operands: Sequence[str], dims: Sequence[str]
) -> tuple[HostAction, ...]:
    """The actions with numbers of operands and dims (``send(0)``) replaced by names, where in range."""

    def name(reference: str, names: Sequence[str]) -> str:
        known = reference.isdecimal() and int(reference) < len(names)
        return names[int(reference)] if known else reference

    def resolve(action: HostAction) -> HostAction:
        if isinstance(action, Send | Recv):
            return replace(action, operand=name(action.operand, operands))
        if isinstance(action, SendIdx):
            return SendIdx(name(action.dim, dims))
        if isinstance(action, SendDim):
            return SendDim(tuple(DimField(name(f.dim, dims), f.shift) for f in action.fields))
        return action

    return tuple(resolve(action) for action in actions)


def _integers(values: Iterable[float]) -> tuple[int, ...]:
    return tuple(int(v) for v in values)


def _dma(values: Mapping[str, Any]) -> DmaConfig:
    def value(number: Any) -> Any:
        if isinstance(number, bool):
            return number
        return int(number, 16) if isinstance(number, str) else int(number)

    return DmaConfig(**{_DMA_KEYS[k]: value(v) for k, v in values.items() if k in _DMA_KEYS})


# --- writing -----------------------------------------------------------------------------------------


def write(specs: Sequence[AcceleratorSpec]) -> str:
    """The file that reads back as `specs`; the ``cpu`` part is that of the first."""
    document: dict[str, Any] = {"cpu": dict(specs[0].link.cpu)} if specs[0].link.cpu else {}
    document["accelerators"] = [_write_device(spec) for spec in specs]
    return _layout(document) + "\n"


def _write_device(device: AcceleratorSpec) -> dict[str, Any]:
    if device.uses:
        return _write_accelerator(device)
    link = device.link
    return {
        "name": link.name,
        "version": link.version,
        "description": link.description,
        "dma_config": _write_dma(link.dma),
        "packets": None if link.packets is None else list(link.packets),
        "macs": link.macs,
        "stream_width": link.stream_width,
    }


def _write_dma(config: DmaConfig) -> dict[str, Any]:
    values = {
        key: value
        for key, attribute in _DMA_KEYS.items()
        if (value := getattr(config, attribute)) or key not in _SAID_IF_TRUE
    }
    return {key: f"0x{value:08x}" if key in _ADDRESSES else value for key, value in values.items()}


def _write_accelerator(spec: AcceleratorSpec) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": spec.name,
        "version": spec.link.version,
        "description": spec.link.description,
        "dma_config": _write_dma(spec.link.dma),
        "kernel": write_kernel(spec.own_kernel) if spec.own_kernel else spec.kernel,
        "accel_size": list(spec.tile.size),
        "tile": {"granule": list(spec.tile.granule)} if spec.tile.granule else None,
        "data_type": spec.data_type.value,
        "dims": list(spec.dims),
        "data": {operand: list(dims) for operand, dims in spec.data.items()},
        "opcode_map": grammar.print_opcodes(spec.opcodes.values()),
        "device": {name: [str(action) for action in op.device] for name, op in spec.opcodes.items()},
        "opcode_flow_map": {name: grammar.print_opcode_flow(flow) for name, flow in spec.flows.items()},
        "selected_flow": spec.selected_flow,
        "init_opcodes": grammar.print_opcode_flow(Scope(spec.init_opcodes)) if spec.init_opcodes else None,
        "buffers": dict(spec.buffers),
        "macs": spec.macs,
        "stream_width": spec.link.stream_width if spec.link.stream_width != WORD_BITS else None,
        "post": spec.post or None,
        "bits": list(spec.bits) or None,
        "in_place": {name: _write_named(kernel) for name, kernel in spec.in_place.items()} or None,
        "kernels": {part.use.name: _write_part(part, spec) for part in spec.parts[1:]} or None,
        "rtl": write_rtl(spec.link.rtl),
        "guessed": list(spec.link.guessed) or None,
    }
    return {key: value for key, value in body.items() if value is not None}


def _write_named(kernel: Kernel) -> str | dict[str, Any]:
    return kernel.name if KERNELS.get(kernel.name) == kernel else write_kernel(kernel)


def _write_part(part: AcceleratorSpec, whole: AcceleratorSpec) -> dict[str, Any]:
    """A further kernel, without what it shares."""
    body = _write_accelerator(part)
    for key in _OF_THE_WHOLE:
        body.pop(key, None)
    if part.data_type == whole.data_type:
        del body["data_type"]
    return body


def _layout(value: Any, indent: str = "") -> str:
    """JSON with one line for what fits on one, so that people can read the files."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (indent and len(indent) + len(flat) <= 100):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [f"{deeper}{json.dumps(k)}: {_layout(v, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + _layout(v, deeper) for v in value) + f"\n{indent}]"
