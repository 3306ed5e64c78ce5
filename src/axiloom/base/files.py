"""Files: those of the user are read or refused with one line, ours appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np

from axiloom.base.errors import AxiloomError, UsageError

Array = np.ndarray[Any, Any]
Fault = Callable[[str], AxiloomError]
"""Makes the error of a message."""

_MAGIC = b"\x93NUMPY"
_MOST_BYTES = 1 << 32
"""Of an array, and of all arrays of a file: what the 32-bit addresses of any board here can hold."""
_MOST_HEADER = 1 << 16
"""Of an array: NumPy writes some 100 bytes."""
MOST_TEXT = 1 << 28
"""Bytes of a text that are read."""
_PIECE = 1 << 20


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """The path of a temporary file beside `path`, renamed to it at the end: nobody ever reads half of it.

    Raises UsageError where it cannot be written; nothing is left behind then.
    """
    check_file(path)
    make_folder(path.parent)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from None
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp keeps the file to its owner; a result is for everyone.
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


@cache
def code_hash(*rooms: str, endings: tuple[str, ...] = (".py",), without: tuple[str, ...] = ()) -> str:
    """Of the text of all files in these rooms (``isa/numerics``) and below: what an answer in a cache hangs
    on, beside its question. `without`: paths that start so (``cosim/replay/``) do not count."""
    digest, root = hashlib.sha256(), Path(__file__).parents[1]
    for room in rooms:
        assert (root / room).is_dir(), f"no room {room}: an answer would hang on nothing"
        for file in sorted(path for path in (root / room).rglob("*") if path.suffix in endings):
            name = file.relative_to(root).as_posix()
            if not name.startswith(without):
                digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def versions(*packages: str) -> str:
    """Of what is installed of them, for the same."""
    versions_ = []
    for name in packages:
        with suppress(PackageNotFoundError):
            versions_.append(f"{name} {version(name)}")
    return ", ".join(versions_)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """An `.npz`; as numpy.savez, but for any names, those of its own parameters too."""
    # Not compressed: weights hardly shrink.
    with whole(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path` as :func:`whole` does. Raises UsageError."""
    if is_special(path):
        path.write_text(text, encoding="utf-8")
        return
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def is_special(path: Path) -> bool:
    """A device or a pipe (``/dev/stdout``), which is written to and never replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def make_folder(path: Path) -> None:
    """The folder and those above it. Raises UsageError where it cannot be."""
    check_folder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def check_file(path: Path, option: str = "") -> None:
    """Raises UsageError if no file can be written to `path`; writes nothing. `option`: what names it."""
    if path.is_dir():
        raise UsageError(f"{_named(path, option)}: is a folder; give the name of a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageError(f"{_named(path, option)}: cannot be written: {os.strerror(errno.EACCES)}")
    if not is_special(path):
        check_folder(path.parent, option, path)


def check_folder(folder: Path, option: str = "", path: Path | None = None) -> None:
    """Raises UsageError if `folder` is none, or cannot be made or written to; makes nothing.

    `path`: what the user named, if that is a file in it.
    """
    named = _named(path or folder, option)
    nearest = folder.absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        what = "is" if nearest == folder.absolute() and path is None else f"{nearest} is"
        raise UsageError(f"{named}: {what} a file, not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(f"{named}: the folder {nearest} cannot be written to: {os.strerror(errno.EACCES)}")


_UNWRITTEN = 74
"""EX_IOERR of ``sysexits.h``: our programs in C end so where they cannot write."""


def check_written(path: Path, done: CompletedProcess[str]) -> None:
    """Raises UsageError if a program of ours has said that it could not write `path`."""
    if done.returncode == _UNWRITTEN:
        raise UsageError(f"{path}: cannot be written: {_one_line(Exception(done.stdout + done.stderr))}")


def _named(path: Path, option: str) -> str:
    return f"{option} {path}".lstrip()


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be written: {error.strerror or error}")


def read_text(path: str | Path, fault: Fault = UsageError) -> str:
    """The UTF-8 text in a user's file, without a byte-order mark.

    Raises UsageError for a file that cannot be read, `fault` for one that is no text.
    """
    return decode(read_bytes(path, MOST_TEXT, fault, lambda piece: 0 in piece), str(path), fault)


def read_bytes(
    path: str | Path,
    most: int = MOST_TEXT,
    fault: Fault = UsageError,
    enough: Callable[[bytes], bool] = lambda _piece: False,
) -> bytes:
    """The bytes of a user's file or pipe, up to a piece that is `enough`: a device has no end.

    Raises UsageError for a file that cannot be read, `fault` for one of more than `most` bytes.
    """
    data = bytearray()
    try:
        with Path(path).open("rb") as file:
            while piece := file.read(_PIECE):
                data += piece
                if enough(piece):
                    break
                if len(data) > most:
                    raise fault(f"{path}: more than {most:,} bytes, which are not read")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        # ValueError: a path that no file can have.
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be read: {why}") from None
    return bytes(data)


def read_json(path: Path, what: str, most: int = MOST_TEXT) -> Any:
    """The value in a JSON file. Raises UsageError; `what`: what was expected, for the message."""
    try:
        text = decode(read_bytes(path, most, enough=lambda piece: 0 in piece), str(path))
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {_one_line(error)}; {what}") from None


def check_input(path: Path, most: int = _MOST_BYTES, fault: Fault = UsageError) -> None:
    """Before a library opens it. Raises UsageError for what is no file, `fault` for one of more than `most`
    bytes."""
    if is_special(path):
        raise UsageError(f"{path}: is a device or a pipe; give a file")
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder; give a file' if path.is_dir() else 'no such file'}")
    if (size := path.stat().st_size) > most:
        raise fault(f"{path}: {size:,} bytes; at most {most:,} are read")


def decode(data: bytes, name: str, fault: Fault = UsageError) -> str:
    """The same for bytes of the file `name`: line and column of the first one that is no text."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        place = _place(data, error.start)
        what = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise fault(f"{name}:{place}: {what}") from None
    if (at := data.find(0)) >= 0:
        raise fault(f"{name}:{_place(data, at)}: a NUL byte; a text in UTF-8 is expected")
    return text


def _place(data: bytes, at: int) -> str:
    """``line:column`` of a byte, both from 1."""
    return f"{data.count(10, 0, at) + 1}:{at - data.rfind(10, 0, at)}"


def read_array(path: Path) -> Array:
    """The array in a ``.npy``, of integers, floats or booleans, in the byte order of the boards.

    Raises UsageError for every other file. Pickles are never read.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise UsageError(f"{path}: no .npy file; numpy.save writes one")
            return _checked(_read(file), str(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, EOFError, SyntaxError, MemoryError, RecursionError) as error:
        raise UsageError(f"{path}: a broken .npy file: {_one_line(error)}") from None


def _read(file: Any, most: int = _MOST_BYTES) -> Array:
    file.seek(0)
    version = np.lib.format.read_magic(file)
    size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    if size > _MOST_HEADER:
        raise ValueError(f"a header of {size:,} bytes")
    file.seek(0)
    np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0}.get(version, np.lib.format.read_array_header_2_0)
    shape, _, dtype = header(file)
    # Before memory is asked for: a header may promise anything.
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read; save an array of numbers")
    elements = 1
    for size in shape:
        elements *= size
    if any(size < 0 for size in shape) or elements * dtype.itemsize > most:
        raise ValueError(f"its header promises {dtype} {shape}, more than any board's memory")
    file.seek(0)
    array: Array = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _checked(array: Array, where: str) -> Array:
    """Of numbers, and in the byte order of the boards."""
    if array.dtype.kind not in "iufb":
        raise UsageError(f"{where}: elements of {array.dtype}; accepted are integers, floats and booleans")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def read_arrays(path: Path, wanted: Iterable[str] | None = None) -> dict[str, Array]:
    """The arrays in an ``.npz`` (of `wanted` those that it has), checked as by :func:`read_array`."""
    check_input(path)
    arrays: dict[str, Array] = {}
    name = ""
    try:
        with zipfile.ZipFile(path) as archive:
            stored = [entry.removesuffix(".npy") for entry in archive.namelist() if entry.endswith(".npy")]
            left = _MOST_BYTES
            for name in stored if wanted is None else [entry for entry in wanted if entry in stored]:
                # Not all at once: an entry may unpack to more than its array.
                with archive.open(f"{name}.npy") as member:
                    arrays[name] = _checked(_read(member, left), f"{path}: `{name}`")
                left -= arrays[name].nbytes
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except zipfile.BadZipFile as error:
        raise UsageError(f"{path}: no .npz file, or a broken one: {_one_line(error)}") from None
    except (ValueError, EOFError, SyntaxError, MemoryError, RuntimeError, NotImplementedError) as error:
        raise UsageError(f"{path}: `{name}` is broken: {_one_line(error)}") from None
    return arrays


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
