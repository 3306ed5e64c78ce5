"""``axiloom prove nest``, from the files that a user has."""

import json

import numpy as np
import pytest
from tests.prove.nest.programs import PRODUCT

from axiloom.cli import main


@pytest.mark.slow
def test_a_nest_is_proved_down_to_its_verilog(tmp_path, capsys) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    (tmp_path / "product.sched").write_text("fission S1 i\nreorder S1 j i\n")
    arguments = ["prove", "nest", str(tmp_path / "product.c"), "-D", "N=2", "--stream-width", "32"]
    arguments += ["--schedule", str(tmp_path / "product.sched"), "--json", str(tmp_path / "verdicts.json")]
    assert main(arguments) == 0
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())["verdicts"]
    assert {"schedule", "circuit", "order", "data", "busy", "depends", "passes"} <= {
        one["name"] for one in verdicts
    }
    assert all(one["good"] for one in verdicts)
    (data,) = [one for one in verdicts if one["name"] == "data"]
    assert (data["bound"], data["unit"]) == (2, "waits")
    assert "1 for some waits alone" in capsys.readouterr().out


def test_data_that_what_was_read_is_compared_on(tmp_path, capsys) -> None:
    """The data of a user find a misreading; here the file gives no result on them."""
    (tmp_path / "f.c").write_text("void f(int a[2], int y[1]) { y[0] = 1 << a[0]; }")
    np.savez(tmp_path / "f.npz", a=np.array([40, 0], np.int32))
    arguments = ["prove", "nest", str(tmp_path / "f.c"), "--input", str(tmp_path / "f.npz")]
    assert main(arguments) == 1
    assert "shift exponent 40 is too large" in capsys.readouterr().err
    (tmp_path / "f.py").write_text(
        "from axiloom.nests.program.builder import Builder\n\n\ndef f():\n    p = Builder('f')\n"
        "    p.output('y', (1,))[0] = p.input('a', (1,))[0]\n    return p\n"
    )
    assert main(["prove", "nest", f"{tmp_path / 'f.py'}:f", "--input", str(tmp_path / "f.npz")]) == 2
    assert "nothing to compare with on data" in capsys.readouterr().err


def test_two_programs_are_refused(tmp_path, capsys) -> None:
    assert main(["prove", "nest", "a.c", "b.c"]) == 2
    assert "axiloom prove nest does not know what to do with `b.c`" in capsys.readouterr().err
