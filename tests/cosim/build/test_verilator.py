"""Builds with Verilator: what is made once, what an error says, what decides that a build is another one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.cosim.build import verilator
from axiloom.cosim.build.verilator import Design

ADDER = """module adder (input wire [7:0] a, input wire [7:0] b, output wire [7:0] sum);
  assign sum = a + b;
endmodule
"""
PUBLIC = 'public_flat_rw -module "adder" -var "*"'


def design(text: str, name: str = "adder.v") -> Design:
    return Design(((name, text),), "adder", PUBLIC)


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that already has the runtime and its headers, which take a while."""
    root = tmp_path / "cache"
    for kept in (verilator.runtime().parent, verilator.headers()):
        (root / kept.parent.name).mkdir(parents=True)
        (root / kept.parent.name / kept.name).symlink_to(kept)
    monkeypatch.setenv("AXILOOM_CACHE", str(root))
    return root


def test_a_design_is_built_once(fresh_cache: Path) -> None:
    lines: list[str] = []
    first = verilator.build(design(ADDER), progress=lines.append)
    assert [line.split()[0] for line in lines] == ["verilating", "compiling", "adder"]
    assert (first / verilator.PROGRAM).is_file()
    assert verilator.build(design(ADDER), progress=lines.append) == first
    assert len(lines) == 3
    assert verilator.build(design(ADDER.replace("+", "-"))) != first


def test_quick_builds_are_other_builds(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(verilator.QUICK_BUILDS, "1")
    quick = verilator.build(design(ADDER))
    monkeypatch.setenv(verilator.QUICK_BUILDS, "0")
    usual = verilator.build(design(ADDER))
    assert quick != usual
    for folder in (quick, usual):
        assert sorted(path.name for path in folder.glob("[!.]*")) == [
            "adder.v",
            "public.vlt",
            verilator.PROGRAM,
        ]


@pytest.mark.parametrize(("trace", "used"), [(None, True), ("vcd", False)])
def test_gcc_reads_headers_once_for_quick_builds(tmp_path: Path, trace: str | None, used: bool) -> None:
    """With the options of a unit; with those of waveforms the header itself is read, and that is no fault."""
    made = verilator.headers()
    if "clang" in verilator.compiler().version:
        pytest.skip("clang reads it each time")
    (tmp_path / "unit.cpp").write_text(f'#include "{verilator.HEADERS}"\nVerilatedContext context;\n')
    flags = [*verilator.QUICK, *verilator.COMMON, *verilator.trace_flags(trace), *verilator.include_flags()]
    command = [*verilator.compiler().command, *flags, f"-I{tmp_path}", f"-I{made}", "-DAXL_SOC", "-H"]
    done = subprocess.run(
        [*command, "-c", "unit.cpp", "-o", "unit.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (f"! {made / verilator.HEADERS}.gch" in done.stderr) == used
    assert (f"{verilator.find().root / 'include' / 'verilated.h'}\n" in done.stderr) != used


def test_the_first_error_is_the_message(fresh_cache: Path) -> None:
    with pytest.raises(BuildError) as error:
        verilator.build(design(ADDER.replace("b;", "c;")))
    assert str(error.value) == (
        "Verilator cannot build adder: %Error: adder.v:2:20: Can't find definition of variable: 'c'"
    )
    assert list((fresh_cache / "verilator").glob("[!.]*")) == []  # nothing half-built is left


def test_a_compiler_error_is_the_message(tmp_path: Path) -> None:
    source = tmp_path / "bad.cpp"
    source.write_text("int main() { return nothing; }\n")
    with pytest.raises(BuildError, match=r"^trying: .*bad\.cpp:1:21: error: .*nothing"):
        verilator.compile_cxx([source, "-o", tmp_path / "bad"], "trying")


def test_without_a_compiler_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    verilator.compiler.cache_clear()
    try:
        monkeypatch.setenv("CXX", "no-such-compiler")
        with pytest.raises(BuildError) as chosen:
            verilator.compiler()
        monkeypatch.delenv("CXX")
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(BuildError) as missing:
            verilator.compiler()
    finally:
        verilator.compiler.cache_clear()
    assert str(chosen.value) == (
        "the C++ compiler 'no-such-compiler' (from CXX) does not exist: "
        "install one (apt install g++) or set CXX"
    )
    assert str(missing.value) == "no C++ compiler found: install one (apt install g++) or set CXX"


def test_included_files_are_a_part_of_a_source(tmp_path: Path) -> None:
    """So that a change in one makes another build."""
    (tmp_path / "width.vh").write_text("`define WIDTH 8\n")
    file = tmp_path / "top.v"
    file.write_text('`include "width.vh"\nmodule top (input wire [`WIDTH-1:0] a);\nendmodule\n')
    ((name, before),) = verilator.read_sources([file])
    assert name == "top.v"
    assert "[8-1:0]" in before
    (tmp_path / "width.vh").write_text("`define WIDTH 9\n")
    assert "[9-1:0]" in verilator.read_sources([file])[0][1]
    (tmp_path / "width.vh").unlink()
    with pytest.raises(BuildError, match=r"top\.v"):
        verilator.read_sources([file])


def test_files_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    names = verilator.write_sources((("a.v", "1"), ("a.v", "2"), ("b.v", "3")), tmp_path)
    assert [(tmp_path / name).read_text() for name in names] == ["1", "2", "3"]
