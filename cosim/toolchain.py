"""Cross-compiling bare-metal programs for the board's Arm CPU with the pinned compiler (clang in ziglang).

Every program is linked with the runtime, the start-up code and the linker script in ``sw/``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from axiloom import boards, sw
from axiloom.cosim.cache import cache_root, cached_build, content_hash
from axiloom.errors import BuildError, CompileError
from axiloom.isa import AcceleratorSpec

TARGET = ("-target", "arm-freestanding-eabihf", "-mcpu=cortex_a9", "-marm")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-g0", "-fno-sanitize=undefined", "-ffunction-sections")
_LINK = ("-static", "-Wl,--gc-sections")
_SOURCES = (".c", ".S", ".s")
_MESSAGE = re.compile(r"\berror:")


def _zig() -> list[str]:
    return [sys.executable, "-m", "ziglang"]


def _environment() -> dict[str, str]:
    """Zig keeps its caches under ours."""
    folder = str(cache_root() / "zig")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}


@cache
def version() -> str:
    """Version of ziglang, and with it of its clang. BuildError if it is not installed."""
    done = subprocess.run([*_zig(), "version"], capture_output=True, text=True, env=_environment())
    if done.returncode:
        raise BuildError("the cross compiler is not installed: run pip install ziglang")
    return done.stdout.strip()


def compile_arm(
    sources: Sequence[Path],
    out: Path,
    *,
    board: boards.Board | None = None,
    spec: AcceleratorSpec | None = None,
    irq: bool = False,
    length_bits: int = 26,
    include: Sequence[Path] = (),
    defines: Mapping[str, object] | None = None,
    opt: str = "-O3",
    flags: Sequence[str] = (),
) -> Path:
    """Compile C99 and assembler `sources` and link them with the runtime to the ELF `out`; returns `out`.

    The DMA is the one of `spec`; without, one in simple mode with a LENGTH register of `length_bits`.
    The runtime polls it, or with `irq` sleeps until its interrupt. `defines` are macros (an AXL_* one
    takes the place of the board's). `flags` come after ours. The result is taken from the cache if neither
    sources, headers in `include`, flags nor compiler have changed. CompileError carries the
    compiler's first error.
    """
    for source in sources:
        if source.suffix not in _SOURCES:
            raise CompileError(f"{source}: only {', '.join(_SOURCES)} can be compiled")
        if not source.is_file():
            raise CompileError(f"{source}: no such file")
    hardware = _hardware(spec) if spec else {"AXL_LENGTH_BITS": length_bits}
    if irq:
        hardware["AXL_DMA_IRQ"] = 1
    arguments = [*TARGET, *FLAGS, opt, *_macros(board, hardware, defines or {})]
    headers = [header for folder in include for header in sorted(folder.glob("*.h"))]
    runtime = [*sw.SOURCES, *sw.NO_BUILTIN_SOURCES, sw.LINKER_SCRIPT, *sorted(sw.ROOT.rglob("*.h"))]
    names = [path.name for path in (*sources, *headers)]
    key = content_hash(arguments, list(flags), list(_LINK), version(), names, *sources, *headers, *runtime)

    def build(folder: Path) -> None:
        _build(folder, sources, [*arguments, *(f"-I{path}" for path in (*include, *sw.INCLUDE)), *flags])

    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(cached_build("arm", key, build) / "program.elf", out)
    return out


def _hardware(spec: AcceleratorSpec) -> dict[str, object]:
    return {
        "AXL_LENGTH_BITS": spec.dma.length_width,
        "AXL_DMA_SG": int(spec.dma.scatter_gather),
        "AXL_STREAM_BITS": spec.stream_width,
    }


def _macros(
    board: boards.Board | None, hardware: Mapping[str, object], defines: Mapping[str, object]
) -> list[str]:
    macros = dict(hardware)
    if board:
        macros["AXL_CPU_HZ"] = f"{board.cpu_hz}u"
        macros["AXL_DMA_CACHED"] = int(board.simulation.dma_cached)
        macros["AXL_DMA_COHERENT"] = int(board.simulation.dma_buffers == "coherent")
    macros.update(defines)
    return [f"-D{name}={value}" for name, value in macros.items()]


def _build(folder: Path, sources: Sequence[Path], arguments: list[str]) -> None:
    objects = []
    for source in sw.NO_BUILTIN_SOURCES:
        compiled = folder / f"{source.stem}.o"
        _run(["cc", *arguments, "-fno-builtin", "-c", "-o", str(compiled), str(source)])
        objects.append(compiled)
    inputs = [*sw.SOURCES, *objects, *(source.absolute() for source in sources)]
    link = [f"-Wl,-T,{sw.LINKER_SCRIPT}", *_LINK]
    _run(["cc", *arguments, *link, "-o", str(folder / "program.elf"), *map(str, inputs)])
    for path in folder.iterdir():
        if path.name != "program.elf":
            path.unlink()


def _run(arguments: list[str]) -> None:
    done = subprocess.run([*_zig(), *arguments], capture_output=True, text=True, env=_environment())
    if done.returncode == 0:
        return
    lines = done.stderr.splitlines()
    errors = [line.strip() for line in lines if _MESSAGE.search(line)]
    raise CompileError(errors[0] if errors else f"the cross compiler failed: {done.stderr.strip()[-300:]}")
