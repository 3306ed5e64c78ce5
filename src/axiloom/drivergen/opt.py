"""``axiloom-opt``: `xdsl-opt` with the `accel` dialect and our passes.

::

    axiloom-opt -p 'accel-generalise,accel-bufferise,accel-annotate{accelerator="v3_16" flow="Cs"}' file.mlir
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from axiloom.base.errors import AxiloomError, CompileError, UsageError
from axiloom.base.files import decode
from axiloom.drivergen.dialects.mlir import LocatedParser, explained, register_dialects, separated, verify
from axiloom.drivergen.network.outline import Outline
from axiloom.drivergen.network.passes.fold_casts import FoldCasts
from axiloom.drivergen.network.passes.fold_transposes import FoldTransposes
from axiloom.drivergen.network.passes.fuse_elementwise import FuseElementwise
from axiloom.drivergen.network.passes.own_inits import OwnInits
from axiloom.drivergen.passes.frontend.annotate import Annotate
from axiloom.drivergen.passes.frontend.as_convolution import AsConvolution
from axiloom.drivergen.passes.frontend.bufferise import Bufferise
from axiloom.drivergen.passes.frontend.fold_padding import FoldPadding
from axiloom.drivergen.passes.frontend.fuse_epilogue import FuseEpilogue
from axiloom.drivergen.passes.frontend.fuse_in_place import FuseInPlace
from axiloom.drivergen.passes.frontend.generalise import Generalise
from axiloom.drivergen.passes.frontend.im2col import Im2col
from axiloom.drivergen.passes.frontend.interchange import Interchange
from axiloom.drivergen.passes.frontend.merge_groups import MergeGroups
from axiloom.drivergen.passes.frontend.prepare_channels import PrepareChannels
from axiloom.drivergen.passes.frontend.split import Split
from axiloom.drivergen.passes.frontend.unit_dims import UnitDims
from axiloom.drivergen.passes.frontend.unsigned_arguments import UnsignedArguments
from axiloom.drivergen.passes.lowering.collapse_loops import CollapseLoops
from axiloom.drivergen.passes.lowering.lower_to_calls import LowerToCalls
from axiloom.drivergen.passes.lowering.lower_to_loops import LowerToLoops
from axiloom.drivergen.passes.lowering.place import Place
from axiloom.drivergen.passes.lowering.specialise_copies import SpecialiseCopies

PASSES: tuple[type[ModulePass], ...] = (
    Generalise,
    OwnInits,
    FoldCasts,
    FoldTransposes,
    FuseElementwise,
    Outline,
    FoldPadding,
    CollapseLoops,
    Im2col,
    UnitDims,
    MergeGroups,
    AsConvolution,
    FuseEpilogue,
    PrepareChannels,
    FuseInPlace,
    Bufferise,
    Annotate,
    Interchange,
    UnsignedArguments,
    Split,
    Place,
    SpecialiseCopies,
    LowerToLoops,
    LowerToCalls,
)
"""In the order of the pipeline; the first ones, but for generalise, are those on whole networks."""


class AxiloomOpt(xDSLOptMain):
    """xDSL's driver with one dialect, our passes and a parser that keeps locations."""

    def register_all_dialects(self) -> None:
        register_dialects(self.ctx)

    def register_all_passes(self) -> None:
        super().register_all_passes()  # type: ignore[no-untyped-call]
        for module_pass in PASSES:
            self.register_pass(module_pass.name, _factory(module_pass))

    def register_all_frontends(self) -> None:
        super().register_all_frontends()  # type: ignore[no-untyped-call]

        def parse_mlir(stream: IO[bytes]) -> ModuleOp:
            name = self.get_input_name()  # type: ignore[no-untyped-call]
            parser = LocatedParser(self.ctx, separated(decode(stream.read(), name, CompileError)), name)
            module = parser.parse_module(not self.args.no_implicit_module)
            if not (self.args.disable_verify or self.args.verify_diagnostics):
                verify(module, self.ctx)
            return module

        self.available_frontends["mlir"] = parse_mlir


def _factory(kind: type[ModulePass]) -> Callable[[], type[ModulePass]]:
    return lambda: kind


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; prints the module after the passes, or one line, and returns the exit code."""
    try:
        AxiloomOpt(description="xdsl-opt with the accel dialect", args=arguments).run()  # type: ignore[no-untyped-call]
    except AxiloomError as error:
        return _fails(str(error), error.exit_code)
    except ParseError as error:
        return _fails(explained(error), CompileError.exit_code)
    except ArgSpecParseError as error:
        return _fails(str(error), UsageError.exit_code)
    except OSError as error:
        return _fails(f"{error.filename}: {error.strerror}", UsageError.exit_code)
    except (DiagnosticException, ValueError) as error:
        return _fails(str(error), CompileError.exit_code)
    except Exception as error:  # passes of xDSL assert what they need
        return _fails(f"{type(error).__name__}: {error}", CompileError.exit_code)
    return 0


def _fails(why: str, code: int) -> int:
    print(f"axiloom-opt: {' '.join(why.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
