"""``axiloom board test`` over a real sshd here, whose "board" runs the ELF on the simulated SoC."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from axiloom import board_folder, isa
from axiloom.base.errors import BoardError, BuildError, DriverError, HangError, MismatchError, UsageError
from axiloom.board_folder.trial import Measured, Row, check, table
from axiloom.boards import hardware
from axiloom.cli import main
from axiloom.remote.board import RemoteBoard, binary_of

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/sbin")


@dataclass(frozen=True)
class Server:
    """An sshd of this user, and the words that `board test` needs to get to it."""

    port: int
    identity: Path
    known: Path

    @property
    def board(self) -> RemoteBoard:
        return RemoteBoard(
            "127.0.0.1", getpass.getuser(), self.port, self.identity, options=tuple(self.options)
        )

    @property
    def options(self) -> list[str]:
        return [f"UserKnownHostsFile={self.known}", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes"]

    @property
    def words(self) -> list[str]:
        words = ["--user", getpass.getuser(), "--port", str(self.port), "--identity", str(self.identity)]
        return [*words, *(word for option in self.options for word in ("--ssh-option", option))]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if SSHD is None or shutil.which("ssh-keygen") is None or shutil.which("ssh") is None:
        pytest.skip("apt-get install openssh-server openssh-client")
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "allowed").write_text((folder / "user.pub").read_text())
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\nPidFile {folder / 'pid'}\n"
        f"AuthorizedKeysFile {folder / 'allowed'}\nStrictModes no\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nPermitRootLogin yes\nUsePAM no\n"
    )
    with contextlib.suppress(OSError):  # what its service does before it starts it
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    daemon = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", folder / "config"], stderr=(folder / "log").open("w"), text=True
    )
    made = Server(port, folder / "user", folder / "known")
    for _ in range(50):
        try:
            ran = made.board.run("true")
            break
        except BoardError:
            time.sleep(0.1)
    else:
        ran = None
    if ran is None or ran.code:
        daemon.kill()
        pytest.skip(f"no sshd of one's own here: {(folder / 'log').read_text().strip()[-200:]}")
    yield made
    daemon.terminate()
    daemon.wait()


def simulated(folder: Path) -> str:
    """What runs an ELF as the board would."""
    return f"{shlex.quote(sys.executable)} -m axiloom board simulate {shlex.quote(str(folder))}"


@pytest.mark.slow  # builds the simulated hardware and programs, and runs both twice
@pytest.mark.parametrize("name", ["v3_4", "identity"])
def test_whole(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Real ssh, the real ELF of the board: it passes, and is the same as in simulation to the microsecond."""
    folder = tmp_path / "folder"
    plan = board_folder.make(hardware.load("pynq-z2"), [isa.builtin(name)])
    board_folder.write(board_folder.contents(plan), folder)
    words = ["board", "test", "127.0.0.1", str(folder), *server.words, "--timeout", "1200"]
    words += ["--prefix", simulated(folder)]
    assert main([*words, "--json", str(tmp_path / "rows.json")]) == 0
    out = capsys.readouterr().out
    assert "  ladder: all steps are passed" in out
    assert out.count(" same ") == 4
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [row["what"] for row in rows] == ["whole kernel", *(f"{name}: round {i}" for i in (1, 2, 3))]
    assert all(row["same"] and row["board"] == row["simulated"] for row in rows)
    if name == "v3_4":
        other = tmp_path / "other"
        wrong = isa.builtin("v3_4", encoding="literals")
        made = board_folder.make(hardware.load("pynq-z2"), [wrong])
        board_folder.write(board_folder.contents(made), other)
        # The hardware that is loaded is of another specification than the programs.
        words = ["board", "test", "127.0.0.1", str(folder), *server.words, "--timeout", "1200"]
        assert main([*words, "--prefix", simulated(other)]) == 7
        assert "stopped at step 3 (stream)" in capsys.readouterr().err


def test_a_program_that_fails(server: Server, tmp_path: Path) -> None:
    board = server.board
    there = board.folder()
    program = tmp_path / "it's a program"
    program.write_text("#!/bin/sh\necho begun; echo 'axiloom: /dev/uio0: no right to open it' >&2; exit 3\n")
    program.chmod(0o755)
    board.send(program, there)
    ran = board.run(board.as_owner(there, "./it\\'s\\ a\\ program"))
    assert (ran.code, ran.output) == (3, "begun\n")
    why = (
        "axiloom: /dev/uio0: no right to open it (the program must open the DMA's devices: --prefix sudo, or "
        "--user root)"
    )
    assert (ran.complaint, ran.reason) == (why, f"begun; {why}")
    board.remove(there)
    assert board.run(f"test -e {there}").code == 1


SUDO = """#!/bin/sh
echo "sudo: unable to resolve host pynq: Name or service not known" >&2
case $1 in no*) echo "sudo: a password is required" >&2; exit 1;; esac
exec "$@"
"""
"""Says what sudo says on a board whose name is in no list of hosts."""


def test_noise_is_no_reason(server: Server, tmp_path: Path) -> None:
    """Of the login or of the prefix; unless the prefix did not run the command, or that has said nothing."""
    (tmp_path / "sudo").write_text(SUDO)
    (tmp_path / "sudo").chmod(0o755)
    board = replace(server.board, prefix=str(tmp_path / "sudo"))
    wrong = "v3_4: element 3 is 5, the CPU says 7"
    ran = board.run(board.as_owner("/", f"echo 'step 1\n{wrong}'; exit 10"))
    assert (ran.code, ran.errors, ran.reason) == (10, "", wrong)
    ran = board.run(board.as_owner("/", f"sh -c 'echo {wrong}; echo no udmabuf >&2; exit 10'"))
    assert (ran.errors, ran.reason) == ("no udmabuf\n", f"{wrong}; no udmabuf")
    ran = board.run(board.as_owner("/", "not-allowed"))
    assert ran.reason.startswith("sudo: a password is required (sudo asks for a password: ")
    assert board.run("exit 3").reason == "it ended with 3 and printed nothing"


@pytest.mark.slow  # waits
@pytest.mark.parametrize("first", ["", "trap '' TERM HUP PIPE; "])
def test_a_program_that_hangs(server: Server, first: str) -> None:
    """It is ended, with its children, also where it does not want to."""
    with pytest.raises(HangError, match=r"not ended in 8 s \(it was stopped\); the last line was: step 1"):
        server.board.run(f"{first}echo step 1; sleep 61.25; sleep 61.25", timeout_s=8)
    assert "sleep 61.25" not in server.board.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").output


def test_an_interrupt_ends_what_runs(server: Server, tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # xdist's workers ignore it
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            server.board.run(f"touch {shlex.quote(str(begun))}; sleep 62.75")
    finally:
        signal.signal(signal.SIGINT, before)
    assert "sleep 62.75" not in server.board.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").output


def test_without_an_fpga_manager(server: Server, tmp_path: Path) -> None:
    bit = tmp_path / "x.bit"
    bit.write_bytes(bitstream())
    board = server.board
    if board.run("test -e /sys/class/fpga_manager/fpga0").code == 0:
        pytest.skip("there is one here")
    there = board.folder()
    with pytest.raises(BoardError, match="its kernel has no FPGA manager"):
        board.load(bit, there)
    board.remove(there)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"port": 1}, "127.0.0.1: nothing listens at its port"),
        ({"host": "no-such-host.invalid"}, "no-such-host.invalid: there is no host of this name"),
        ({"user": "nobody-of-this-name"}, "127.0.0.1: it refuses to log in without a password"),
        ({"known": "/dev/null"}, "127.0.0.1: its key is not known here"),
    ],
)
def test_a_board_that_is_not_reached(
    server: Server,
    folders: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    what: str,
) -> None:
    words = [*server.words]
    for name, value in changed.items():
        if name == "known":
            words = [word.replace(str(server.known), value) for word in words]
        elif name != "host":
            words[words.index(f"--{name}") + 1] = str(value)
    host = changed.get("host", "127.0.0.1")
    assert main(["board", "test", host, str(folders["own"]), *words]) == 8
    assert capsys.readouterr().err.startswith(f"axiloom: {what}")


def test_what_is_wrong_here(
    folders: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(code: int, *words: str) -> str:
        assert main(["board", "test", *words]) == code
        return capsys.readouterr().err

    own = str(folders["own"])
    assert "is no board folder: it has no board.json" in fails(2, "host", str(tmp_path))
    assert "x.bit" not in fails(2, "host", own, "--identity", str(tmp_path / "absent"))
    assert "`make bitstream` builds it, or leave --load out" in fails(5, "host", own, "--load")
    serial = tmp_path / "serial"
    serial.mkdir()
    (serial / "board.json").write_text('{"format": 1, "family": "ecp5", "board": "ulx3s"}')
    assert "ulx3s has no Linux: axiloom run PROBLEM --board ulx3s --port TTY" in fails(2, "host", str(serial))
    monkeypatch.setattr("axiloom.remote.board.shutil.which", lambda _name: None)
    with pytest.raises(Exception, match="ssh is not installed: apt-get install openssh-client"):
        RemoteBoard("host").run("true")


def test_the_help_has_each_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["board", "test", "--help"])
    told = {int(code) for code in re.findall(r"\b(\d): ", capsys.readouterr().out)}
    raised = (MismatchError, UsageError, BuildError, HangError, DriverError, BoardError)
    assert told == {0, *(error.exit_code for error in raised)}


def bitstream(sync: int = 0xAA995566) -> bytes:
    """As Vivado writes it: fields, then the configuration data."""
    data = struct.pack(">4I", 0xFFFFFFFF, sync, 0x20000000, 0x30008001)
    fields = b"".join(
        key + struct.pack(">H", len(text) + 1) + text + b"\0"
        for key, text in (
            (b"a", b"x;Version=2023.2"),
            (b"b", b"7z020clg400"),
            (b"c", b"2026/01/01"),
            (b"d", b"0"),
        )
    )
    head = struct.pack(">H", 9) + bytes(9) + struct.pack(">H", 1)
    return head + fields + b"e" + struct.pack(">I", len(data)) + data


def test_a_bitstream_for_the_fpga_manager(tmp_path: Path) -> None:
    bit = tmp_path / "x.bit"
    bit.write_bytes(bitstream())
    assert binary_of(bit) == struct.pack("<4I", 0xFFFFFFFF, 0xAA995566, 0x20000000, 0x30008001)
    for content in (b"", bitstream()[:-1], bitstream(sync=0), b"\x7fELF" * 9):
        bit.write_bytes(content)
        with pytest.raises(BuildError, match=r"no bitstream that Vivado has written"):
            binary_of(bit)
    with pytest.raises(BuildError, match=r"absent.bit: No such file or directory; `make bitstream` makes it"):
        binary_of(tmp_path / "absent.bit")


def test_the_table() -> None:
    right = Measured("whole kernel", "0x1", 120)
    rows = [
        Row("ladder", "whole kernel", right, Measured("whole kernel", "0x1", 100)),
        Row("selftest", "v3: round 1", right, Measured("v3: round 1", "0x2", 100)),
        Row("selftest", "v3: round 2", right, None),
        Row("selftest", "v3: round 3", None, right),
    ]
    assert [row.same for row in rows] == [True, False, None, False]
    lines = [line.split() for line in table(rows).splitlines()[1:]]
    assert lines[0] == ["ladder,", "whole", "kernel", "same", "120", "us", "100", "us", "1.20"]
    assert lines[1][4] == lines[3][4] == "DIFFERENT"
    assert lines[2][4:6] == ["not", "compared"]
    with pytest.raises(MismatchError, match="v3: round 1; selftest, v3: round 2; selftest, v3: round 3"):
        check(rows)
    check(rows[:1])
