"""A board behind ssh: programs and bitstreams go there, and run there. Needs nothing on it but a shell.

A program on the board is known by its process group. Before a command the shell writes its group to
stderr. Lines before it belong to the login. A program that does not end is stopped by its group, once
plainly and once through ``--prefix``, because root owns sudo's programs.
"""

from __future__ import annotations

import re
import shlex
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from axiloom.base.errors import BoardError, BuildError, HangError, UsageError

CONNECT_S = 10
_LOST = 255
"""Exit status of ssh itself."""
_SAYS = (
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "its key has changed: ssh-keygen -R HOST"),
    ("Load key", "the file of --identity is no key that ssh can read"),
    ("Could not resolve hostname", "there is no host of this name"),
    ("Connection refused", "nothing listens at its port: is the board up, does sshd run, is --port right?"),
    ("Connection timed out", "it does not answer: is the board up, and in this network?"),
    ("Operation timed out", "it does not answer: is the board up, and in this network?"),
    ("No route to host", "there is no route to it: is the board up, and in this network?"),
    ("Network is unreachable", "there is no route to it: is the board in this network?"),
    (
        "Host key verification failed",
        "its key is not known here: connect once by hand",
    ),
    (
        "Permission denied (",
        "it refuses to log in without a password: --user, --identity, or ssh-copy-id first",
    ),
)
"""What ssh says, and what that means for who asked; the first that is found counts."""
_SHELL = (
    (
        "a password is required",
        "sudo asks for a password: let it run without one, or log in as root (--user root)",
    ),
    ("sudo: not found", "there is no sudo: --user root --prefix ''"),
    ("sudo: command not found", "there is no sudo: --user root --prefix ''"),
    ("Exec format error", "its processor cannot run the program: is the folder for another board?"),
    ("no right to open it", "the program must open the DMA's devices: --prefix sudo, or --user root"),
)


_MARK = "axiloom: process group"
"""On stderr in front of what a command says: what stands before it is the login's."""
_MARKED = re.compile(rf"^{_MARK} (\d*)\n", re.MULTILINE)
_BEGIN = f'read -r pid name state parent group rest < /proc/$$/stat; echo "{_MARK} $group" >&2'

_STOP = """\
export LC_ALL=C
lives() {{
    why=$(kill -0 -{group} 2>&1) && return
    case $why in *permitted*) ;; *) return 1 ;; esac
}}
exec >/dev/null 2>&1
for signal in TERM KILL; do
    kill -$signal -{group}
    {prefix} sh -c "kill -$signal -{group}"
    for second in 1 2 3; do
        lives || exit 0
        sleep 1
    done
done
exit 1
"""
"""Ends a group: what is this user's, then what the prefix has made root's. Fails if something still lives.
Without ``--`` before the group: dash takes none after ``-0``."""


class Ran(NamedTuple):
    """The outcome of a command on the board."""

    code: int
    output: str
    errors: str

    @property
    def complaint(self) -> str:
        """The last line on stderr, with what to do about it where that is known; else how it ended."""
        return self._explained(_last(self.errors) or f"it ended with {self.code} and printed nothing")

    @property
    def reason(self) -> str:
        """The complaint, behind the last line that the command printed."""
        said, why = _last(self.output), _last(self.errors)
        if not (said or why):
            return self.complaint
        return self._explained("; ".join(line for line in (said, why) if line))

    def _explained(self, text: str) -> str:
        told = next((what for sign, what in _SHELL if sign in self.errors + self.output), "")
        return f"{text}{f' ({told})' if told else ''}"


@dataclass(frozen=True)
class RemoteBoard:
    """How to get to a board: `host` as ssh takes it, and what commands run with (`prefix`: ``sudo``)."""

    host: str
    user: str | None = None
    port: int | None = None
    identity: Path | None = None
    prefix: str = ""
    options: Sequence[str] = field(default_factory=tuple)
    """Of ssh, each as behind -o."""

    def run(self, command: str, *, data: bytes | None = None, timeout_s: float = 60) -> Ran:
        """Run `command` in a shell on the board.

        Raises BoardError where the board is not reached, and HangError where the command does not end; both
        say why. What runs there is stopped then, and on a KeyboardInterrupt.
        """
        words = self._ssh()
        script = _shell(f"{_BEGIN}; {command}")
        with (
            tempfile.TemporaryFile() as log,
            subprocess.Popen(
                # In a session of its own, so that Ctrl-C leaves the connection to us.
                [*words, script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            ) as ssh,
        ):

            def errors() -> str:
                log.seek(0)
                return _text(log.read())

            try:
                output = _text(ssh.communicate(data or b"", timeout_s)[0])
            except (subprocess.TimeoutExpired, KeyboardInterrupt) as ended:
                ssh.kill()
                last = _last(_text(ssh.communicate()[0]))
                fate = self._stopped(words, errors())
                if isinstance(ended, KeyboardInterrupt):
                    raise
                raise HangError(
                    f"{self.host}: the program has not ended in {timeout_s:g} s ({fate})"
                    + (f"; the last line was: {last}" if last else ", and it printed nothing")
                ) from None
            said = errors()
        if ssh.returncode == _LOST:
            why = next((what for text, what in _SAYS if text in said), "")
            end = _last(_MARKED.sub("", said)) or "the connection is lost"
            raise BoardError(f"{self.host}: {why} (ssh: {end})" if why else f"{self.host}: {end}")
        return Ran(ssh.returncode, output, self._own(said, bool(output)))

    def _ssh(self) -> list[str]:
        """ssh to the board: a command follows."""
        ssh = shutil.which("ssh")
        if ssh is None:
            raise UsageError("ssh is not installed: apt-get install openssh-client")
        if self.host.startswith("-"):
            raise UsageError(f"{self.host!r} is no host")
        words = [ssh, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}"]
        for option in (*self.options, "LogLevel=ERROR"):  # the first value of an option counts
            words += ["-o", option]
        words += ["-p", str(self.port)] if self.port else []
        words += ["-i", str(self.identity)] if self.identity else []
        words += ["-l", self.user] if self.user else []
        return [*words, "--", self.host]

    def _own(self, errors: str, begun: bool) -> str:
        """What stderr has of a command. Not what the login said before; nor, if the command has `begun`, what
        the prefix says (sudo: that it cannot resolve the board's own name)."""
        own = _MARKED.split(errors, maxsplit=1)[-1]
        if not self.prefix or not begun:
            return own
        name = f"{Path(self.prefix.split()[0]).name}: "
        return "".join(line for line in own.splitlines(keepends=True) if not line.startswith(name))

    def _stopped(self, words: Sequence[str], errors: str) -> str:
        """End the group of processes whose number its `errors` have; what has become of it."""
        marked = _MARKED.search(errors)
        group = int(marked[1] or 0) if marked else 0
        if group < 2:  # kill takes -1 for all processes, and -0 for its own group
            return "it may still run"
        script = _STOP.format(group=group, prefix=self.prefix)
        try:
            code = subprocess.run(
                [*words, _shell(script)], input=b"", capture_output=True, timeout=CONNECT_S + 20, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            code = _LOST
        if code == _LOST:
            return "it may still run: the board does not answer any more"
        return "it still runs, and cannot be stopped" if code else "it was stopped"

    def as_owner(self, folder: str, command: str) -> str:
        """`command` in a folder, with the prefix in front."""
        return f"cd {shlex.quote(folder)} && {self.prefix} {command}"

    def folder(self) -> str:
        """A new folder for files."""
        return self._checked(self.run("mktemp -d")).output.strip()

    def remove(self, folder: str) -> None:
        self.run(f"rm -rf {shlex.quote(folder)}")

    def send(self, file: Path, folder: str) -> None:
        """A file, executable as here, into a folder of the board's."""
        there = shlex.quote(f"{folder}/{file.name}")
        mode = "755" if file.stat().st_mode & 0o100 else "644"
        command = f"cat > {there} && chmod {mode} {there}"
        self._checked(self.run(command, data=file.read_bytes(), timeout_s=600))

    def load(self, bit: Path, folder: str) -> None:
        """Put a bitstream into the programmable logic, through the kernel's FPGA manager.

        It sets no clock: that is what the boot loader, or the firmware of a Kria, has left. BoardError where
        there is no such manager.
        """
        binary = bit.with_suffix(".bin").name
        there = shlex.quote(f"{folder}/{binary}")
        self._checked(self.run(f"cat > {there}", data=binary_of(bit), timeout_s=600))
        manager = "/sys/class/fpga_manager/fpga0"
        name = shlex.quote(binary)
        script = "; ".join(
            (
                "set -e",
                f"test -e {manager}/firmware || {{ echo 'its kernel has no FPGA manager' >&2; exit 1; }}",
                "mkdir -p /lib/firmware",
                f"cp {there} /lib/firmware/{name}",
                f"echo 0 > {manager}/flags",
                f"echo {name} > {manager}/firmware",
                f"state=$(cat {manager}/state)",
                'echo "the FPGA manager says: $state" >&2',
                'test "$state" = operating',
            )
        )
        self._checked(self.run(self.as_owner(folder, f"sh -c {shlex.quote(script)}"), timeout_s=120))

    def _checked(self, ran: Ran) -> Ran:
        if ran.code:
            raise BoardError(f"{self.host}: {ran.reason}")
        return ran


def _shell(script: str) -> str:
    """For whatever shell the login has."""
    return f"exec sh -c {shlex.quote(script)}"


def _last(text: str) -> str:
    """The last line that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


_SYNC = 0xAA995566
"""Of configuration data (UG470, UG570)."""


def binary_of(bit: Path) -> bytes:
    """A .bit file's configuration data as the kernel's FPGA manager takes it: words the other way round.

    The file is a list of fields: a length of 2 bytes and what it is, then ``a`` to ``d`` with texts, ``e``
    with a length of 4 bytes and the data. BuildError for another file.
    """
    try:
        content = bit.read_bytes()
    except OSError as error:
        raise BuildError(f"{bit}: {error.strerror}; `make bitstream` makes it") from None
    try:
        (skipped,) = struct.unpack_from(">H", content)
        at = 2 + skipped + 2
        while (key := content[at : at + 1]) != b"e":
            if not b"a" <= key <= b"d":
                raise ValueError
            at += 3 + struct.unpack_from(">H", content, at + 1)[0]
        (size,) = struct.unpack_from(">I", content, at + 1)
        data = content[at + 5 : at + 5 + size]
        words = np.frombuffer(data, ">u4")
        if len(data) != size or _SYNC not in words[:1024]:
            raise ValueError
    except (struct.error, ValueError):
        raise BuildError(f"{bit}: no bitstream that Vivado has written (.bit)") from None
    return words.astype("<u4").tobytes()
