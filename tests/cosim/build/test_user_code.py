"""A user's C and C++ on the simulated SoC: macros, folders, warnings, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.cli import main
from axiloom.cosim.build.user_code import CompileOptions
from axiloom.cosim.system import System

DRIVER = """
#include <array>
#include <cassert>
#include <cstdint>
#include "axiloom.h"
#include "sizes.h"

struct Table {
    std::array<int32_t, SIZE> words{};
    explicit Table(int first) { for (auto &word : words) word = first++; }
};
static Table table(FIRST); // constructed before main
int32_t A[SIZE][SIZE], B[SIZE][SIZE], C[SIZE][SIZE];

int main()
{
    int unused;
    volatile int32_t second = table.words[1];
    assert(second == EXPECTED);
    if (dma_init(0x40400000, 0x16000000, 65536, 0x16400000, 65536)) return 1;
    auto *in = dma_in_buffer();
    for (int i = 0; i < SIZE * SIZE; i++) { in[i] = A[0][i]; in[SIZE * SIZE + i] = B[0][i]; }
    if (dma_start_recv(SIZE * SIZE, 0) || dma_start_send(2 * SIZE * SIZE, 0)) return 2;
    if (dma_wait_send() || dma_wait_recv()) return 3;
    for (int i = 0; i < SIZE * SIZE; i++) C[0][i] = dma_out_buffer()[i];
    return 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "driver.cpp").write_text(DRIVER)
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "sizes.h").write_text("#define SIZE 4\n")
    a, b = np.random.default_rng(3).integers(-99, 99, (2, 4, 4)).astype(np.int32)
    for name, array in (("a", a), ("b", b), ("c", a @ b)):
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


def simulate(folder: Path, *options: str) -> int:
    words = ["simulate", str(folder / "driver.cpp"), "--accel", "v1", "--size", "4", "-D", "FIRST=7"]
    arrays = [f"{name}={folder}/{name.lower()}.npy" for name in "ABC"]
    loads = ["--load", arrays[0], "--load", arrays[1], "--expect", arrays[2]]
    return main([*words, "-I", str(folder / "inc"), *loads, *options])


def test_cxx_on_bare_metal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # from the cache too the warnings are shown
        assert simulate(folder, "-D", "EXPECTED=8") == 0
        said = capsys.readouterr()
        assert "Result: equal to NumPy in all 16 elements" in said.out
        assert "driver.cpp:17:9: warning: unused variable 'unused'" in said.err


def test_a_false_assertion_ends_with_134(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(folder, "-D", "EXPECTED=9") != 0
    assert "134" in capsys.readouterr().err


def test_c_and_cxx_together(folder: Path) -> None:
    (folder / "two.c").write_text(
        "#include <assert.h>\nint two(void); int two(void) { assert(1); int unused; return 2; }\n"
    )
    (folder / "main.cc").write_text('extern "C" int two(void);\nint main() { return two() - 2; }\n')
    system = System([isa.builtin("v1_4")])
    _, warnings = system.compile_user([folder / "two.c", folder / "main.cc"], folder / "a.elf")
    assert [one.partition(": ")[2] for one in warnings] == [
        "warning: unused variable 'unused' [-Wunused-variable]"
    ]


@pytest.mark.parametrize(
    ("name", "text", "board", "what"),
    [
        ("a.rs", "fn main() {}", "pynq-z2", r"a.rs: only .c, .S, .s, .cpp, .cc, .cxx, .C can be compiled"),
        (
            "a.cpp",
            "int main() { return x; }",
            "pynq-z2",
            r"a.cpp:1:21: error: use of undeclared identifier 'x'",
        ),
        ("a.cpp", "int main() {}", "nexys-video-rv32", "C\\+\\+ takes a host with a Linux target"),
        (
            "a.cpp",
            '#include <cstdio>\nint main() { return std::puts(""); }',
            "pynq-z2",
            "undefined symbol: puts",
        ),
    ],
)
def test_what_is_refused(name: str, text: str, board: str, what: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    system = System([isa.builtin("v1_4")], board)
    with pytest.raises(CompileError, match=what):
        system.compile_user([tmp_path / name], tmp_path / "a.elf", CompileOptions(("FIRST",)))


@pytest.mark.slow
def test_cxx_as_a_linux_process(folder: Path) -> None:
    """Zig builds its C++ library first, which takes a minute."""
    assert simulate(folder, "-D", "EXPECTED=8", "--os", "linux") == 0
