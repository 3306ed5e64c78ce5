"""A page of documentation from an instruction set, and what `axiloom spec` says of one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from axiloom.cli import main
from axiloom.isa.instructions import library
from axiloom.isa.instructions.page import page
from axiloom.isa.instructions.read import parse

TEXT = '''"""A toy."""
N = 4
word = input(16)
x = memory(N, 2, type=int8)
h = memory(64, type=uint8, host=True)
r = register(uint4, 3)
any_value = register(int8, None)
T = table(1, 2, 3)
def twice(v: int8) -> int9:
    """v and v."""
    return v + v
@instruction(word[0:2] == 1 and word[2] | r[0] == 0)
def fill():
    """Row by row."""
    row = word[4:6]
    flag = word[7]
    last = row + 1
    require(row != 3)
    # a comment
    for i in lanes(2):
        x[row, i] = int8(twice(T[i]) + flag)
@instruction(word[0:2] == 2)
def nothing():
    pass
'''
PAGE = '''# toy

A toy.

## Constants

```python
N = 4
```

## Inputs of a command

| input | bits |
|---|---|
| `word` | 16 |

## Memories

| memory | elements | type | whose |
|---|---|---|---|
| `x` | 4 x 2 | int8 | device |
| `h` | 64 | uint8 | host |

## Registers

| register | type | after a reset |
|---|---|---|
| `r` | uint4 | 3 |
| `any_value` | int8 | any |

## Tables

| table | entries | values |
|---|---|---|
| `T` | 3 | 1, 2, 3 |

## Functions

```python
def twice(v: int8) -> int9:
    """v and v."""
    return v + v
```

## Instructions

### fill

Row by row.

Comes when `word[0:2] == 1 and word[2] | r[0] == 0`.

| field | bits | values |
|---|---|---|
| `row` | `word[4:6]` | 0 to 3 |
| `flag` | `word[7]` | 0 to 1 |
| `last` | `row + 1` | 1 to 4 |

Legal if all of these hold; else the device stops:

- `row != 3`

```python
for i in lanes(2):
    x[row, i] = int8(twice(T[i]) + flag)
```

### nothing

Comes when `word[0:2] == 2`.

```python
pass
```
'''


def test_the_whole_page() -> None:
    assert page(parse(TEXT, "toy.isa", "toy"), TEXT) == PAGE


@pytest.mark.parametrize("name", sorted(library.targets()))
def test_built_in_ones(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "doc", name]) == 0
    shown = capsys.readouterr().out
    for instruction in re.findall(r"@instruction\(.*\n *def (\w+)", library.targets()[name].read_text()):
        assert f"\n### {instruction}\n" in shown


def test_check_of_a_built_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "check", "vta"]) == 0
    assert "vta: vta: no faults; 6 memories, 1 register" in capsys.readouterr().out


def test_a_file_and_its_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "toy.isa"
    path.write_text(TEXT)
    assert main(["spec", "check", str(path)]) == 0
    said = "toy: no faults; 2 memories, 2 registers, 1 function, 2 instructions"
    assert said in capsys.readouterr().out
    assert main(["spec", "doc", str(path), "-o", str(tmp_path / "toy.md")]) == 0
    assert (tmp_path / "toy.md").read_text() == PAGE
    path.write_text(TEXT.replace("int8(twice", "int3(twize"))
    for command in (["spec", "check", str(path)], ["spec", "doc", str(path)]):
        assert main(command) == 3
        assert "toy.isa:21: `twize(T[i])`: no function of that name" in capsys.readouterr().err


def test_what_is_no_instruction_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "doc", "nosuch"]) == 2
    assert "nosuch is no instruction set; there are " in capsys.readouterr().err
    assert main(["spec", "check", "nosuch.isa"]) == 2
    assert "nosuch.isa: no such file" in capsys.readouterr().err
