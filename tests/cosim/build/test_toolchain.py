"""The cross compiler: what it links, what it caches, what it says of bad C."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from axiloom import boards
from axiloom.base import processes
from axiloom.base.errors import CompileError, DriverError
from axiloom.cosim import elf
from axiloom.cosim.build.toolchain import compile_bare

BOARD = boards.load(boards.DEFAULT)


def source(folder: Path, text: str, name: str = "program.c") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_program_starts_at_one_mebibyte_with_the_runtime(tmp_path: Path) -> None:
    text = '#include "axiloom.h"\nint main(void) { return dma_free() == DMA_ERR_NOT_READY ? 0 : 1; }\n'
    program = elf.load(compile_bare([source(tmp_path, text)], tmp_path / "out" / "a.elf", board=BOARD))
    assert program.entry == 0x100000
    assert {"main", "axiloom_exit", "axiloom_exit_code", "dma_free"} <= set(program.symbols)
    assert program.text[0] == 0x100000


def test_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    first = source(tmp_path, "int main(void) { return 3; }\n")
    other = tmp_path / "elsewhere"
    other.mkdir()
    second = source(other, "int main(void) { return 3; }\n")
    a = compile_bare([first], tmp_path / "a.elf").read_bytes()
    assert a == compile_bare([second], tmp_path / "b.elf").read_bytes()


@pytest.mark.parametrize("named", [True, False])
def test_a_changed_header_is_noticed(tmp_path: Path, named: bool) -> None:
    """Beside the source too, where the compiler looks by itself."""
    main = source(tmp_path, '#include "answer.h"\nint main(void) { return ANSWER; }\n')
    programs = []
    for value in (1, 2):
        source(tmp_path, f"#define ANSWER {value}\n", "answer.h")
        programs.append(compile_bare([main], tmp_path / "a.elf", include=[tmp_path] * named).read_bytes())
    assert programs[0] != programs[1]


def test_any_character_in_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sources, cache, working folder and temporary files."""
    odd = tmp_path / "a%b" / "- a'b\"c$d#e\nf:g;h%i\\j{k}*l&m|n(o)p`é,"
    odd.mkdir(parents=True)
    monkeypatch.chdir(odd)
    monkeypatch.setenv("AXILOOM_CACHE", "-cache")
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    monkeypatch.setattr(processes, "_STATE", processes._State())
    source(odd, "#define ANSWER 1\n", "answer.h")
    text = source(odd, '#include "answer.h"\nint main(void) { return ANSWER; }\n')
    assert elf.load(compile_bare([text], odd / "a.elf", include=[odd], board=BOARD)).entry == 0x100000


def test_macros_of_board_and_caller(tmp_path: Path) -> None:
    checks = {"AXL_LENGTH_BITS": "14", "AXL_CPU_HZ": "650000000u", "AXL_DMA_CACHED": "0", "MINE": "7"}
    asserts = "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in checks.items())
    text = source(tmp_path, asserts + "int main(void) { return 0; }\n")
    compile_bare(
        [text],
        tmp_path / "a.elf",
        board=BOARD,
        length_bits=14,
        defines={"AXL_DMA_CACHED": 0, "MINE": 7},
        flags=["-Wno-c11-extensions"],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { return x; }\n", "program.c:1:25: error: use of undeclared identifier 'x'"),
        ("int main(void) { int unused; return 0; }\n", "error: unused variable 'unused'"),
        ("int f(void);\nint main(void) { return f(); }\n", "undefined symbol: f"),
        (
            "int big[100000000]; int main(void) { return big[5]; }\n",
            "larger than the memory of programs",
        ),
    ],
)
def test_first_error_of_the_compiler(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CompileError) as raised:
        compile_bare([source(tmp_path, text)], tmp_path / "a.elf")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_only_c_and_assembler(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"only \.c, \.S, \.s can be compiled"):
        compile_bare([tmp_path / "a.cpp"], tmp_path / "a.elf")
    with pytest.raises(CompileError, match="no such file"):
        compile_bare([tmp_path / "a.c"], tmp_path / "a.elf")


def test_library_functions_that_the_compiler_calls(tmp_path: Path) -> None:
    """String functions come from the runtime, division from the compiler's own library."""
    text = """
        #include <stdint.h>
        #include <string.h>
        struct big { int32_t a[100]; } x, y;
        uint64_t n = 1000, d = 7;
        int main(void) {
            y = x;
            memset(&x, 0, sizeof x);
            memmove(&x.a[1], &x.a[0], 40);
            return (int)(n / d) - 142 + memcmp(&x, &x, sizeof x);
        }
    """
    program = elf.load(compile_bare([source(tmp_path, text)], tmp_path / "a.elf"))
    assert program.symbol("memset").is_function


class TestElf:
    def test_names_addresses(self, tmp_path: Path) -> None:
        text = "int data[4] = {1};\nint main(void) { return data[0]; }\n"
        program = elf.load(compile_bare([source(tmp_path, text)], tmp_path / "a.elf"))
        data = program.symbol("data")
        assert (data.size, data.is_function) == (16, False)
        assert program.describe(data.address + 4) == f"0x{data.address + 4:08X} (data+0x4)"
        assert program.describe(data.address) == f"0x{data.address:08X} (data)"
        assert program.describe(0x10) == "0x00000010"

    def test_missing_symbol_lists_objects(self, tmp_path: Path) -> None:
        text = "int data[4] = {1};\nint main(void) { return data[0]; }\n"
        program = elf.load(compile_bare([source(tmp_path, text)], tmp_path / "a.elf"))
        with pytest.raises(DriverError, match=r"no symbol 'C'; its objects are .*data"):
            program.symbol("C")

    def test_not_a_program(self, tmp_path: Path) -> None:
        with pytest.raises(DriverError, match="not an ELF file"):
            elf.load(source(tmp_path, "hello, this is text"))
        with pytest.raises(DriverError, match="no such file"):
            elf.load(tmp_path / "nothing.elf")
        with pytest.raises(DriverError, match="little-endian executable is needed, for a host"):
            elf.load(Path("/proc/self/exe"))
