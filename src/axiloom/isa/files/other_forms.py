"""Configuration files of other forms, as specifications: `axiloom spec import`."""

from __future__ import annotations

import json
from pathlib import Path

from axiloom.base.errors import SpecError
from axiloom.base.files import read_text
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.files import flat_form, paper_form


def read_other(path: Path) -> tuple[list[AcceleratorSpec], list[str]]:
    """The accelerators of a file of an older form, or of the paper's, and what of it is not in them.

    Raises SpecError with the faults of the file, each with its name, and for a file that is ours already.
    """
    text = read_text(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError([f"{path}: not JSON: {error}"]) from None
    try:
        if flat_form.is_flat(document):
            imported = flat_form.read(text)
            return [imported.spec], imported.remarks
        if paper_form.lacks_device(document):
            return paper_form.read(document)
    except SpecError as error:
        raise SpecError([f"{path}: {fault}" for fault in error.faults]) from None
    raise SpecError([f"{path}: no configuration file of AXI4MLIR; `axiloom spec check` says what it is"])
