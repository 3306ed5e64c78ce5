"""Programs: loading ELF files, their symbols, and the way back from an address to a name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from axiloom.base.errors import DriverError
from axiloom.boards import hosts
from axiloom.cosim.build import guards

EXIT, EXIT_CODE = "axiloom_exit", "axiloom_exit_code"
"""Symbols of the start-up code in ``sw/``: where a program ends, and where its status then is."""
VECTORS = "_vector_table"
"""Symbol of a program of a board, which handles exceptions itself."""


@dataclass(frozen=True)
class Symbol:
    """A function or an object; `size` in bytes, 0 where the assembler gave none."""

    name: str
    address: int
    size: int
    is_function: bool


@dataclass(frozen=True)
class Segment:
    """Bytes to load at `address`; memory up to `size` bytes beyond is zero."""

    address: int
    data: bytes
    size: int


@dataclass(frozen=True)
class Program:
    """A statically linked program, for bare metal or Linux. Build one with :func:`load`."""

    path: Path
    entry: int
    segments: tuple[Segment, ...]
    symbols: Mapping[str, Symbol]
    text: tuple[int, int]
    """First address of executable code, and the one behind it."""
    sections: Mapping[str, int]
    """Bytes of ``text``, ``rodata``, ``data`` and ``bss``; the stack and what is never loaded are in none."""
    architecture: str
    """That of the hosts that run it: ``armv7``, ``aarch64``, ..."""
    guarded: tuple[int, int]
    """From where to where there is nothing but arrays and the guards around them; (0, 0): there are none."""
    headers: tuple[int, int, int]
    """The program headers: their address in memory (0: not loaded), the size of one, how many."""
    _sorted: tuple[Symbol, ...] = field(repr=False)
    _addresses: tuple[int, ...] = field(repr=False)

    @property
    def is_linux(self) -> bool:
        """True if it begins with the start-up code of a C library: a process, not bare metal."""
        return "__libc_start_main" in self.symbols and VECTORS not in self.symbols

    @property
    def is_board(self) -> bool:
        """True if other tools than ours built it for bare metal: our start-up code is not in it."""
        return not self.is_linux and EXIT not in self.symbols

    @property
    def begin(self) -> int:
        """Its lowest address."""
        return min(s.address for s in self.segments)

    @property
    def end(self) -> int:
        """The address behind its memory."""
        return max(s.address + s.size for s in self.segments)

    def symbol(self, name: str) -> Symbol:
        """The symbol `name`; DriverError, with what the program has, if it is not there."""
        symbol = self.symbols.get(name)
        if symbol is None:
            objects = ", ".join(s.name for s in self._sorted if s.size and not s.is_function)
            raise DriverError(f"{self.path.name}: no symbol {name!r}; its objects are {objects or 'none'}")
        return symbol

    def describe(self, address: int) -> str:
        """``0x00100a40 (dma_wait_recv+0x1c)``, or the bare address where no symbol covers it."""
        text = f"0x{address:08X}"
        index = bisect_right(self._addresses, address) - 1
        if index < 0:
            return text
        symbol = self._sorted[index]
        offset = address - symbol.address
        if offset and offset >= max(symbol.size, 4 if symbol.is_function else 1):
            return text
        return f"{text} ({symbol.name}+0x{offset:x})" if offset else f"{text} ({symbol.name})"

    def function_at(self, address: int) -> str:
        """Name of the function that an instruction is in; empty where there is none."""
        index = bisect_right(self._addresses, address) - 1
        return self._sorted[index].name if index >= 0 and self._sorted[index].is_function else ""

    def object_at(self, first: int, last: int) -> Symbol | None:
        """The object that has the bytes from `first` to `last`."""
        index = bisect_right(self._addresses, first) - 1
        if index < 0 or self._sorted[index].is_function:
            return None
        symbol = self._sorted[index]
        return symbol if last < symbol.address + symbol.size else None

    @property
    def functions(self) -> tuple[Symbol, ...]:
        """Functions by address, one for each: of several names the one that sorts first."""
        by_address: dict[int, Symbol] = {}
        for symbol in sorted((s for s in self._sorted if s.is_function), key=lambda s: s.name):
            by_address.setdefault(symbol.address, symbol)
        return tuple(by_address[address] for address in sorted(by_address))

    @property
    def arrays(self) -> tuple[Symbol, ...]:
        """Those with guards around them, by address."""
        begin, end = self.guarded
        return tuple(s for s in self._sorted if s.size and not s.is_function and begin <= s.address < end)

    def overlaps(self, address: int, size: int) -> bool:
        """True if a segment, with its zeroed part, touches [address, address + size)."""
        return any(s.address < address + size and address < s.address + s.size for s in self.segments)


def load(path: Path) -> Program:
    """Read an ELF file. DriverError if it is no executable of a host."""
    try:
        with path.open("rb") as stream:
            return _read(path, ELFFile(stream))
    except FileNotFoundError:
        raise DriverError(f"{path}: no such file") from None
    except ELFError as error:
        raise DriverError(f"{path}: not an ELF file: {error}") from None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError, OSError) as error:
        # pyelftools believes what a header says of the rest of the file.
        why = " ".join(str(error).split()) or type(error).__name__
        raise DriverError(f"{path}: a broken ELF file: {why}") from None


def _read(path: Path, elf: Any) -> Program:
    form = (elf.header["e_type"], elf.header["e_machine"], elf.elfclass, elf.little_endian)
    host = hosts.for_executable(*form)
    if host is None:
        raise DriverError(
            f"{path}: a statically linked little-endian executable is needed, for a host "
            f"({', '.join(map(str, hosts.every().values()))}), not {form[0]} for {form[1]} ({form[2]} bit)"
        )
    for bits, what in host.executable.refused.items():
        if elf.header["e_flags"] & bits:
            raise DriverError(f"{path}: the program needs {what}, which {host} has not")
    loadable = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD" and s["p_memsz"]]
    code = [s for s in loadable if s["p_flags"] & 1]
    if not code:
        raise DriverError(f"{path}: no executable segment")
    symbols = _symbols(elf)
    named = [s for s in symbols.values() if not s.name.startswith("$")]  # $a, $d mark code and data
    ordered = tuple(sorted(named, key=lambda s: (s.address, s.size)))
    return Program(
        path=path,
        entry=elf.header["e_entry"],
        segments=tuple(Segment(s["p_paddr"], s.data(), s["p_memsz"]) for s in loadable),
        symbols=symbols,
        text=(min(s["p_paddr"] for s in code), max(s["p_paddr"] + s["p_filesz"] for s in code)),
        sections=_sections(elf),
        architecture=host.architecture,
        guarded=_guarded(elf),
        headers=_headers(elf, loadable),
        _sorted=ordered,
        _addresses=tuple(s.address for s in ordered),
    )


def _headers(elf: Any, loadable: list[Any]) -> tuple[int, int, int]:
    offset, size, count = (elf.header[name] for name in ("e_phoff", "e_phentsize", "e_phnum"))
    holding = [s for s in loadable if s["p_offset"] <= offset < s["p_offset"] + s["p_filesz"]]
    return (holding[0]["p_vaddr"] + offset - holding[0]["p_offset"] if holding else 0, size, count)


def _guarded(elf: Any) -> tuple[int, int]:
    section = elf.get_section_by_name(guards.SECTION)
    return (section["sh_addr"], section["sh_addr"] + section["sh_size"]) if section else (0, 0)


def _sections(elf: Any) -> dict[str, int]:
    sizes = dict.fromkeys(("text", "rodata", "data", "bss"), 0)
    for section in elf.iter_sections():
        flags = section["sh_flags"]
        if not flags & SH_FLAGS.SHF_ALLOC or section.name in (".stack", ".noinit", ".axl_windows"):
            continue
        if flags & SH_FLAGS.SHF_EXECINSTR:
            kind = "text"
        elif section["sh_type"] == "SHT_NOBITS":
            kind = "bss"
        else:
            kind = "data" if flags & SH_FLAGS.SHF_WRITE else "rodata"
        sizes[kind] += section["sh_size"]
    return sizes


def _symbols(elf: Any) -> dict[str, Symbol]:
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    symbols: dict[str, Symbol] = {}
    for symbol in table.iter_symbols():
        kind = symbol["st_info"]["type"]
        absolute = symbol["st_shndx"] in ("SHN_UNDEF", "SHN_ABS")
        if not symbol.name or absolute or kind not in ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE"):
            continue
        symbols[symbol.name] = Symbol(symbol.name, symbol["st_value"], symbol["st_size"], kind == "STT_FUNC")
    return symbols
