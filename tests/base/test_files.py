"""Files of users: what is no text or no array of numbers is refused with its place, and never run."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from axiloom.base.errors import UsageError
from axiloom.base.files import check_input, read_array, read_arrays, read_text

HEADER_2 = b"\x93NUMPY\x02\x00"


def refused(read: object, path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read(path)  # type: ignore[operator]
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"one\ntw\xe9o", "FILE:2:3: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("one".encode("utf-16"), "FILE:1:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"\xed\xa0\x80", "FILE:1:1: byte 0xed is not UTF-8; save the file as UTF-8"),  # half a surrogate
        (b"a\n\nbc\0", "FILE:3:3: a NUL byte; a text in UTF-8 is expected"),
    ],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "text"
    file.write_bytes(data)
    assert refused(read_text, file) == message


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    assert read_text(file) == "one\ntwo"


def test_what_is_no_file(tmp_path: Path) -> None:
    assert refused(read_text, tmp_path / "absent") == "FILE: no such file"
    assert refused(read_text, tmp_path) == "FILE: cannot be read: Is a directory"
    assert refused(read_text, tmp_path / ("x" * 5000)) == "FILE: cannot be read: File name too long"


def npy(array: object, **options: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)  # type: ignore[arg-type]
    return stream.getvalue()


class Bomb:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("unpickled"),)  # type: ignore[return-value]


WHOLE = npy(np.arange(6, dtype=np.int32).reshape(2, 3))
HUGE = WHOLE.replace(b"(2, 3), }", b"(99999999999, 3), }").replace(b"}          ", b"}", 1)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no .npy file"),
        (b"PK\x03\x04 an archive", "no .npy file"),
        (WHOLE[:7], "a broken .npy file"),
        (WHOLE[:40], "a broken .npy file"),
        (WHOLE[:-3], "a broken .npy file"),
        (WHOLE.replace(b"<i4", b"<q9"), "a broken .npy file"),
        (WHOLE.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"), "a broken .npy file"),
        (HUGE, "its header promises int32 (99999999999, 3), more than any board's memory"),
        (npy(np.array([Bomb()], dtype=object), allow_pickle=True), "Python objects, which are not read"),
        (npy(np.array(["text"])), "elements of <U4; accepted are integers, floats and booleans"),
        (npy(np.array([1j])), "elements of complex128"),
        (npy(np.zeros(2, [("a", "i4")])), "accepted are integers, floats and booleans"),
    ],
)
def test_broken_arrays(tmp_path: Path, data: bytes, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.npy"
    file.write_bytes(data)
    assert says in refused(read_array, file)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("weight.npy", data)
    assert "`weight`" in refused(read_arrays, tmp_path / "a.npz")
    assert not (tmp_path / "unpickled").exists()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<i4", ">i4", "|i1", "?", ">f8"])
def test_the_order_of_elements_and_bytes_is_honoured(tmp_path: Path, order: str, kind: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(kind, order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "a.npy", array)
    found = read_array(tmp_path / "a.npy")
    assert (found == array).all()
    assert found.dtype.byteorder in "=|"
    np.savez(tmp_path / "a.npz", array)
    assert (read_arrays(tmp_path / "a.npz")["arr_0"] == array).all()


def test_archives_that_are_none(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", one=np.arange(100))
    whole = (tmp_path / "a.npz").read_bytes()
    for data in (b"", b"text", whole[:-20], whole[:60]):
        (tmp_path / "b.npz").write_bytes(data)
        assert "no .npz file, or a broken one" in refused(read_arrays, tmp_path / "b.npz")
    (tmp_path / "b.npz").write_bytes(whole.replace(b"\x07\0\0\0\0\0\0\0", b"\x08\0\0\0\0\0\0\0"))
    assert "broken one: Bad CRC-32" in refused(read_arrays, tmp_path / "b.npz")
    assert refused(read_arrays, tmp_path / "absent.npz") == "FILE: no such file"


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    """An entry that is longer than its array, and a header that is: memory stays small."""
    wide = HEADER_2 + (1 << 30).to_bytes(4, "little")
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, head in (("one", WHOLE), ("two", wide)):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(head)
                for _ in range(64):
                    member.write(bytes(1 << 20))
    tracemalloc.start()
    try:
        assert (read_arrays(tmp_path / "a.npz", ["one"])["one"] == np.arange(6).reshape(2, 3)).all()
        assert "a header of 1,073,741,824 bytes" in refused(read_arrays, tmp_path / "a.npz")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_files_without_an_end(tmp_path: Path, device: str) -> None:
    (tmp_path / "a.json").symlink_to(device)
    assert re.search("a NUL byte|not UTF-8", refused(read_text, tmp_path / "a.json"))
    assert refused(check_input, tmp_path / "a.json") == "FILE: is a device or a pipe; give a file"


def test_a_pipe_without_an_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    with subprocess.Popen(["sh", "-c", f"yes > {tmp_path / 'a.json'}"], stderr=subprocess.DEVNULL):
        assert (
            refused(read_text, tmp_path / "a.json") == "FILE: more than 268,435,456 bytes, which are not read"
        )
