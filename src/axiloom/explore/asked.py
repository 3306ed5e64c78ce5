"""Which accelerator somebody asks for: by name, by a file, with their own RTL; what is open is None."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from axiloom import boards, isa
from axiloom.base.errors import UsageError
from axiloom.boards import hardware
from axiloom.cosim.system import STALLS, Stall
from axiloom.drivergen.problems.kinds import kernel_problem
from axiloom.explore.default import Open
from axiloom.explore.hardware import Kept, most
from axiloom.hw.rtl_files.packaged import sources
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.device import device_of
from axiloom.isa.files.library import ENCODINGS
from axiloom.isa.numerics import INT32

MOST = "most"
"""In place of a number of multiply-adds: what the board's part has multipliers for."""
MODEL = Path("model")
"""In place of files of RTL: the functional model."""
BUILTIN = "v3"
OFF = "off"
"""In place of seeds of pauses."""


@dataclass(frozen=True)
class Asked:
    """One accelerator, or several by their names with commas between them.

    Sizes as in a specification: `size` of a tile, `stream_width` in bits, `macs` multiply-adds a cycle or
    `MOST`. Messages name the options of the command, which are the fields here, `file` being ``--spec``.
    """

    accel: str | None = None
    """A built-in one, or a name within `file`."""
    size: int | None = None
    file: Path | None = None
    encoding: str | None = None
    post: bool = False
    rtl: tuple[Path, ...] = ()
    top: str | None = None
    stream_width: int | None = None
    macs: int | str | None = None
    dma: str | None = None
    """``simple`` or ``sg``."""
    memory_port: str | None = None
    board: str = boards.DEFAULT
    own: AcceleratorSpec | None = None
    """A specification as a value, in place of `file`."""
    data_type: str | None = None
    """Of a built-in one, where no problem says it."""

    def __post_init__(self) -> None:
        """Raises UsageError with all that does not go together, BuildError for no packaged core."""
        files, top = sources(self.rtl, self.top)
        object.__setattr__(self, "rtl", files)
        object.__setattr__(self, "top", top)
        in_file = self.file is not None
        rules = (
            ("--top", self.top and not self.rtl, "names the top module of --rtl: give the files too"),
            ("--rtl", self.is_verilog and not self.top, "needs --top NAME, the module with the AXI ports"),
            (
                "--size",
                in_file and self.size,
                "chooses a built-in accelerator; with --spec the file says the tile",
            ),
            ("--encoding", in_file and self.encoding, "of a built-in accelerator; the file has the opcodes"),
            ("--post", in_file and self.post, "for a built-in accelerator; in a file, `post`: true says it"),
            ("--data-type", in_file and self.data_type, "of a built-in accelerator; the file says its own"),
            (
                "--macs",
                self.is_verilog and self.macs,
                "sizes a generated array; --rtl has its own: `macs` in its specification says how large it "
                "is",
            ),
        )
        if faults := [f"{name}: {why}" for name, wrong, why in rules if wrong]:
            raise UsageError("; ".join(faults))

    @property
    def is_free(self) -> bool:
        """Whether nothing says which accelerator."""
        said = self.accel, self.file, self.own, self.rtl, self.encoding
        return not any(said) and self.size is None

    @property
    def is_builtin(self) -> bool:
        """An accelerator of ours, whose hardware may be changed."""
        return self.file is None and self.own is None and not self.rtl

    @property
    def left(self) -> Open:
        """What of the hardware is open."""
        return Open(*(value is None for value in (self.dma, self.stream_width, self.macs, self.memory_port)))

    @property
    def is_verilog(self) -> bool:
        """Files stand in the accelerator's place, not the functional model."""
        return bool(self.rtl) and MODEL not in self.rtl

    @property
    def is_model(self) -> bool:
        """The functional model stands in the accelerator's place.

        Raises UsageError where something else is asked for with it.
        """
        if MODEL not in self.rtl:
            return False
        if len(self.rtl) > 1:
            files = ", ".join(str(path) for path in self.rtl if path != MODEL)
            raise UsageError(f"--rtl model is the functional model, without Verilog: leave {files} out")
        if self.top is not None:
            raise UsageError(f"--rtl model has no top module: leave --top {self.top} out")
        return True

    @property
    def kept(self) -> Kept:
        """What of the hardware is not chosen for a part. UsageError for `MOST`: that is the choice."""
        if self.macs == MOST:
            raise UsageError(f"--macs {MOST}: --device chooses the array by itself; give a number to keep it")
        macs = self.macs if isinstance(self.macs, int) else None
        return Kept(macs, self.stream_width, None if self.dma is None else self.dma == "sg")

    def stall(self, seeds: range | str | None, *, traced: bool = False) -> Stall:
        """The pauses under which a run is repeated: `seeds`, `OFF`, or what is the default for None."""
        if isinstance(seeds, range) and self.is_model:
            raise UsageError("--stall: holds up RTL; --rtl model has none")
        if seeds is not None:
            return None if seeds == OFF and not self.is_verilog else seeds
        if not self.is_verilog:
            return None
        return "a trace is of one run" if traced else STALLS

    def named(self, name: str) -> Asked:
        return replace(self, accel=name)

    def spec(self, data_type: str | None = None, problem: str = "") -> AcceleratorSpec:
        """The specification, with other widths, macs and DMA where they are asked for.

        A built-in one takes the problem's `data_type`, a file says its own. What it leaves to the RTL is
        filled in. A `problem` that is a kernel without an engine has a plain device, where none is named.
        """
        spec = self._named(data_type or self.data_type or INT32.name, problem)
        if self.encoding and self.file is None and "," not in (self.accel or ""):
            check_encodings(self.accel or BUILTIN, self.size)
        return self._revised(spec)

    def _revised(self, spec: AcceleratorSpec) -> AcceleratorSpec:
        if self.rtl and not self.is_model:
            spec = self._files(spec).completed(spec)
        changes: dict[str, Any] = {}
        if self.stream_width is not None:
            changes["stream_width"] = self.stream_width
        if self.macs is not None:
            if not spec.form.multiplies:
                raise UsageError(f"--macs: {spec.name} copies and multiplies nothing")
            changes["macs"] = self.macs if isinstance(self.macs, int) else most(spec, self.board).macs
        dma = spec.link.dma
        if self.dma is not None:
            dma = replace(dma, scatter_gather=self.dma == "sg")
        if self.memory_port is not None:
            dma = replace(dma, coherent=self._is_coherent(self.memory_port))
        if dma != spec.link.dma:
            changes["dma"] = dma
        return isa.revise(spec, **changes) if changes else spec

    def specs(self, data_type: str | Sequence[str] | None = None, problem: str = "") -> list[AcceleratorSpec]:
        """As :meth:`spec`, of all names, whose DMAs and windows are moved apart where they collide.

        `data_type`: of all, or one for each.
        """
        names = (self.accel or "").split(",")
        data_type = self.data_type or data_type
        types = [data_type] * len(names) if data_type is None or isinstance(data_type, str) else [*data_type]
        if len(names) == 1:
            return [self.spec(types[0] if types else None, problem)]
        types += [None] * (len(names) - len(types))
        # Encodings are not checked: one of several may have the same opcodes in both.
        several = zip(names, types, strict=False)
        return isa.place(
            [self._revised(self.named(name)._named(kind or INT32.name, problem)) for name, kind in several]
        )

    def _named(self, data_type: str, problem: str) -> AcceleratorSpec:
        if self.own is not None:
            return self.own
        if self.file is not None:
            return isa.load(self.file, self.accel)
        kernel = kernel_problem(problem) if self.accel is None and problem else None
        if kernel is None:
            encoding = self.encoding or ENCODINGS[0]
            return isa.builtin(self.accel or BUILTIN, self.size, data_type, encoding, self.post)
        builtin_only = {"size": self.size, "encoding": self.encoding, "post": self.post or None}
        for option, value in builtin_only.items():
            if value is not None:
                what = f"{problem} runs on a plain device for {kernel.name}"
                raise UsageError(f"--{option} is for a built-in accelerator, and {what}: name one in --accel")
        return device_of(kernel, data_type=data_type)

    def _files(self, device: AcceleratorSpec | None) -> UserRtl:
        assert self.top is not None  # as it was checked above
        return UserRtl(self.rtl, self.top, device.link.rtl if device else None)

    def _is_coherent(self, port: str) -> bool:
        if self.board not in hardware.names() or self.board in boards.names():
            return boards.is_coherent(boards.load(self.board), port)
        nearest = hardware.profile(self.board, hardware.load(self.board).family)
        if nearest is None:
            raise UsageError(f"--memory-port: {self.board} has no processor with caches; leave it out")
        return boards.is_coherent(nearest, port)

    def refuse_model(self, command: str) -> None:
        """UsageError for the functional model, in a `command` about hardware."""
        if self.is_model:
            raise UsageError(
                f"{command}: with --rtl model there is no RTL; the functional model takes part in `run`, "
                "`simulate` and `bring-up` only"
            )

    def stands_in(self, *devices: AcceleratorSpec, command: str = "") -> dict[str, Any]:
        """What stands in the accelerator's place, as arguments of :class:`axiloom.cosim.system.System`."""
        return {"model": True} if self.is_model else {"user_rtl": self.user_rtl(*devices, command=command)}

    def user_rtl(self, *devices: AcceleratorSpec, command: str = "") -> UserRtl | None:
        """The Verilog that takes the place of the accelerator in `links`.

        Raises UsageError and BuildError for what does not fit, its streams' width too, and for the model.
        """
        self.refuse_model(command)
        if not self.rtl:
            return None
        user = self._files(devices[0] if devices else None)
        if len(devices) > 1:
            names = ", ".join(device.name for device in devices)
            raise UsageError(
                f"--rtl takes the place of one generated accelerator, and here are {names}: name one"
            )
        if self.stream_width not in (None, user.stream_width):
            raise UsageError(
                f"--stream-width {self.stream_width}: the streams of {user.top} (--rtl) have "
                f"{user.stream_width} bits"
            )
        for device in devices:
            user.check(device)
        return user


def check_encodings(name: str, size: int | None = None) -> None:
    """Raises UsageError if the built-in accelerator has the same opcodes in both encodings."""
    if len({isa.dumps(isa.builtin(name, size, encoding=encoding)) for encoding in ENCODINGS}) == 1:
        raise UsageError(f"--encoding: {name} has the same opcodes in both encodings: leave it out")
