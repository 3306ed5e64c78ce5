"""Yosys and its like: how they are run, what they say when it goes wrong, how they are stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.boards.synthesis import yosys
from axiloom.boards.synthesis.yosys import StoppedError


def program(folder: Path, text: str) -> None:
    """The module `tool` with the function `run`."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    (folder / "tool.py").write_text(f"import pathlib, sys, time\ndef run(arguments):\n{body}")


def test_a_program_gets_its_arguments_and_its_folder(tmp_path: Path) -> None:
    program(tmp_path, "pathlib.Path(arguments[0]).write_text(arguments[1])")
    yosys.call("tool", "run", ["out.txt", "a b"], tmp_path, "it could not run", cpu_s=60)
    assert (tmp_path / "out.txt").read_text() == "a b"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print('ERROR: first\\nfine\\nError: last\\nbye'); return 1", "Error: last"),
        ("print('  nothing said  '); return 3", "nothing said"),
        ("sys.stderr.write('on stderr\\n'); return 3", "on stderr"),
        ("return 3", "exit code 3"),
    ],
)
def test_a_failure_is_one_line_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    program(tmp_path, text)
    with pytest.raises(BuildError) as error:
        yosys.call("tool", "run", [], tmp_path, "it could not run", cpu_s=60)
    assert str(error.value) == f"it could not run: {reason}"


def test_a_program_whose_cache_was_rewritten_runs_again(tmp_path: Path) -> None:
    program(
        tmp_path,
        "import os, signal\nbefore = pathlib.Path('before')\n"
        "if not before.exists():\n    before.touch()\n    os.kill(os.getpid(), signal.SIGBUS)\n"
        "pathlib.Path('done').touch()",
    )
    yosys.call("tool", "run", [], tmp_path, "it could not run", cpu_s=60)
    assert (tmp_path / "done").exists()


def test_a_program_that_dies_so_each_time_has_failed(tmp_path: Path) -> None:
    program(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGBUS)")
    with pytest.raises(BuildError, match=r"^it could not run: exit code -7$"):
        yosys.call("tool", "run", [], tmp_path, "it could not run", cpu_s=60)


def test_a_program_is_stopped_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiloom.boards.synthesis.yosys._ASKED_S", 0.1)
    begun = tmp_path / "begun"
    (tmp_path / "endless.py").write_text(
        "import pathlib, time\ndef run(_):\n    pathlib.Path('begun').touch()\n    time.sleep(600)\n"
    )
    with pytest.raises(StoppedError):
        yosys.call("endless", "run", [], tmp_path, "it could not run", stop=begun.exists, cpu_s=60)


def test_a_program_is_stopped_by_its_cpu_seconds(tmp_path: Path) -> None:
    program(tmp_path, "while True:\n    pass")
    with pytest.raises(StoppedError):
        yosys.call("tool", "run", [], tmp_path, "it could not run", cpu_s=1)


def test_without_the_package_the_command_that_brings_it() -> None:
    with pytest.raises(BuildError, match=r"^yowasp-of-nobody is not installed: pip install -e '.\[synth"):
        yosys.version("yowasp-of-nobody")


@pytest.mark.synth
def test_a_script_is_run_and_its_error_is_told(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text("module top (input a, output b); assign b = ~a; endmodule\n")
    yosys.run("read_verilog top.v\nsynth -top top\nwrite_json top.json\n", tmp_path, "map top")
    assert "$_NOT_" in (tmp_path / "top.json").read_text()
    with pytest.raises(BuildError, match=r"^Yosys could not map it: ERROR: Module `other' not found!$"):
        yosys.run("read_verilog top.v\nhierarchy -top other\n", tmp_path, "map it")


def test_only_the_zeros_of_memories_go() -> None:
    zeros = (
        "  initial begin : storage_at_start\n    integer i;\n"
        "    for (i = 0; i < 8; i = i + 1) storage[i] = 4'h0;\n  end\n"
    )
    kept = zeros.replace("4'h0", "4'h1") + "  initial _start = 1'h0;\n"
    assert yosys.without_zeros(f"module a;\n{zeros}{kept}endmodule\n") == f"module a;\n{kept}endmodule\n"
