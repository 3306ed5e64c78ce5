"""What every command of the vendor does in the model: projects, files, runs, packaging, and a block
design.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.board_folder.vivado_model import ipxact_check
from tests.board_folder.vivado_model.catalogue import CATALOGUE
from tests.board_folder.vivado_model.commands import Call
from tests.board_folder.vivado_model.design import Design, RefusedError
from tests.board_folder.vivado_model.packaged import packaged
from tests.board_folder.vivado_model.shapes import Ip, Pin

from axiloom.base.errors import BuildError
from axiloom.board_folder.design.rtl import ports

RELEASE = "2023.2"
PARTS = re.compile(r"xc7z\w+clg\d+-\d|xczu\w+-\w+-\d-\w|xck26-sfvc784-2LV-c")
BOARD_PARTS = ("xilinx.com:zcu104:part0:1.1", "xilinx.com:kv260_som:part0:1.4")
"""Boards whose files come with Vivado, as one release names them."""

PROJECT_PROPERTIES = ("board_part", "board_connections", "target_language", "ip_repo_paths", "default_lib")
CORE_PROPERTIES = ("name", "version", "display_name", "description", "vendor", "library", "core_revision")
PORT_PROPERTIES = ("PACKAGE_PIN", "IOSTANDARD", "DRIVE", "SLEW", "PULLUP")
STANDARDS = ("LVCMOS33", "LVCMOS25", "LVCMOS18")
RUN_PROPERTIES = {"PROGRESS": "100%", "STATUS": "write_bitstream Complete!"}
STEPS = ("opt_design", "place_design", "route_design", "write_bitstream")


class Model:
    """The state that a script has made. Each command is a method ``do_...`` and may raise RefusedError."""

    def __init__(self) -> None:
        self.project: Path | None = None
        self.name = ""
        self.in_memory = False
        self.catalogue: dict[str, Ip] = dict(CATALOGUE)
        self.repositories: list[Path] = []
        self.properties: dict[str, str] = {}
        self.design: Design | None = None
        self.files: list[Path] = []
        self.constraints: list[Path] = []
        self.top: str | None = None
        self.wrapper: str | None = None
        self.launched: list[str] = []
        self.open_design = False
        self.packaging: Path | None = None
        self.xdc_ports: dict[str, dict[str, str]] = {}
        self.clocks: dict[str, float] = {}

    def run(self, call: Call) -> str:
        handler: Callable[[Call], str | None] = getattr(
            self, f"do_{call.name.replace('::', '_')}", self._nothing
        )
        return handler(call) or ""

    def _nothing(self, call: Call) -> None:
        """Commands that change nothing that is looked at."""

    # Projects and files.

    def do_create_project(self, call: Call) -> None:
        if not PARTS.fullmatch(call.options.get("-part", "")):
            raise RefusedError(f"part {call.options.get('-part')!r} is unknown")
        self.in_memory = "-in_memory" in call.flags
        if self.in_memory:
            return
        self.name, folder = call.arguments[0], Path(call.arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        self.project, self.files, self.top = folder, [], None

    def do_close_project(self, _call: Call) -> None:
        self._project()
        self.project = None

    def _project(self) -> Path:
        if self.project is None:
            raise RefusedError("no project is open")
        return self.project

    def do_current_project(self, _call: Call) -> str:
        self._project()
        return f"project:{self.name}"

    def do_current_fileset(self, _call: Call) -> str:
        self._project()
        return "fileset:sources_1"

    def do_current_design(self, _call: Call) -> str:
        return "design:current"

    def do_version(self, _call: Call) -> str:
        return RELEASE

    def do_get_board_parts(self, call: Call) -> str:
        return " ".join(
            one for one in BOARD_PARTS for pattern in call.arguments if fnmatch.fnmatch(one, pattern)
        )

    def do_add_files(self, call: Call) -> None:
        self._project()
        for path in _paths(call.arguments):
            if not path.is_file():
                raise RefusedError(f"file {path.name} does not exist")
            (self.constraints if call.options.get("-fileset") == "constrs_1" else self.files).append(path)

    def do_read_verilog(self, call: Call) -> None:
        for path in _paths(call.arguments):
            if not path.is_file():
                raise RefusedError(f"file {path.name} does not exist")
            self.files.append(path)

    def do_read_xdc(self, call: Call) -> None:
        self.constraints += _paths(call.arguments)

    def do_get_files(self, call: Call) -> str:
        known = [str(path) for path in self.files]
        if self.design is not None:
            known.append(str(self._bd_folder() / f"{self.design.name}.bd"))
        found = [one for one in known for pattern in call.arguments if fnmatch.fnmatch(one, f"*{pattern}")]
        if not found and "-quiet" not in call.flags:
            raise RefusedError(f"no file matches {' '.join(call.arguments)}")
        return " ".join(found)

    def _bd_folder(self) -> Path:
        assert self.design is not None
        return self._project() / f"{self.name}.srcs" / "sources_1" / "bd" / self.design.name

    def do_update_ip_catalog(self, _call: Call) -> None:
        for repository in self.repositories:
            if not repository.is_dir():
                raise RefusedError(f"ip_repo_paths: {repository.name} is no folder")
            for path in sorted(repository.glob("**/component.xml")):
                faults = ipxact_check.check(path)
                if faults:
                    raise RefusedError(f"{path.parent.name}: {faults[0]}")
                identity, ip = packaged(path)
                self.catalogue[identity] = ip

    def do_set_property(self, call: Call) -> None:
        if "-dict" in call.options:
            words = _list(call.options["-dict"])
            if len(words) % 2:
                raise RefusedError("-dict has a name without a value")
            pairs, target = list(zip(words[::2], words[1::2], strict=True)), call.arguments[0]
        else:
            pairs, target = [(call.arguments[0], call.arguments[1])], call.arguments[2]
        if not target:
            raise RefusedError("there is no object to set a property of")
        refused = []
        for name, value in pairs:
            try:
                self._set(target, name, value)
            except RefusedError as error:
                refused.append(str(error))
        if refused:
            raise RefusedError("; ".join(refused))

    def _set(self, target: str, name: str, value: str) -> None:
        kind, _, what = target.partition(":")
        if kind == "project":
            if name not in PROJECT_PROPERTIES:
                raise RefusedError(
                    f"a project has no property {name}; it has {', '.join(PROJECT_PROPERTIES)}"
                )
            self.properties[name] = value
            if name == "ip_repo_paths":
                self.repositories = [Path(path) for path in _list(value)]
        elif kind == "fileset" and name == "top":
            self._set_top(value)
        elif kind == "core" and name in CORE_PROPERTIES:
            self.properties[name] = value
        elif kind == "port":
            if name not in PORT_PROPERTIES:
                raise RefusedError(f"a port has no property {name}; it has {', '.join(PORT_PROPERTIES)}")
            if name == "IOSTANDARD" and value not in STANDARDS:
                raise RefusedError(f"IOSTANDARD must be one of {', '.join(STANDARDS)}, not {value}")
            self.xdc_ports.setdefault(what, {})[name] = value
        elif self.design is not None and target in self.design.cells:
            self.design.set_property(target, name, value)
        else:
            raise RefusedError(f"{target} has no property {name}")

    def _set_top(self, name: str) -> None:
        modules = {self.wrapper} if self.wrapper else set()
        for path in self.files:
            modules |= set(re.findall(r"^module (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        if name not in modules:
            raise RefusedError(f"top {name} is no module of the project")
        self.top = name

    def do_get_property(self, call: Call) -> str:
        name, target = call.arguments
        kind, _, what = target.partition(":")
        if kind == "run" and name in RUN_PROPERTIES:
            if what not in self.launched:
                raise RefusedError(f"run {what} was not launched")
            return RUN_PROPERTIES[name]
        if kind == "run" and name == "DIRECTORY":
            return str(self._project() / f"{self.name}.runs" / what)
        if kind == "path" and name == "SLACK":
            return "0.123"
        if kind == "bus" and name == "NAME":
            return what
        raise RefusedError(f"{target or 'nothing'} has no property {name}")

    # Runs and reports.

    def do_launch_runs(self, call: Call) -> None:
        if self.top is None:
            raise RefusedError("the project has no top module")
        if call.options.get("-to_step", "write_bitstream") not in STEPS:
            raise RefusedError(f"-to_step must be one of {', '.join(STEPS)}, not {call.options['-to_step']}")
        if self.design is not None and not self.design.validated:
            raise RefusedError("the block design was not validated")
        for run in call.arguments:
            if run not in ("synth_1", "impl_1"):
                raise RefusedError(f"run {run} is unknown; there are synth_1 and impl_1")
            if run == "impl_1" and "synth_1" not in self.launched:
                raise RefusedError("impl_1 needs synth_1")
            self.launched.append(run)
            folder = self._project() / f"{self.name}.runs" / run
            folder.mkdir(parents=True, exist_ok=True)
            if run == "impl_1" and call.options.get("-to_step") == "write_bitstream":
                (folder / f"{self.top}.bit").write_bytes(b"")

    def do_wait_on_run(self, call: Call) -> None:
        if call.arguments[0] not in self.launched:
            raise RefusedError(f"run {call.arguments[0]} was not launched")

    def do_get_runs(self, call: Call) -> str:
        return " ".join(f"run:{name}" for name in call.arguments if name in ("synth_1", "impl_1"))

    def do_open_run(self, call: Call) -> None:
        self.do_wait_on_run(call)
        self.open_design = True

    def do_synth_design(self, call: Call) -> None:
        source = "\n".join(path.read_text(encoding="utf-8") for path in self.files)
        try:
            ports(source, call.options.get("-top", ""))
        except BuildError as error:
            raise RefusedError(str(error)) from None
        self.open_design = True

    def _opened(self, _call: Call) -> None:
        if not self.open_design:
            raise RefusedError("no synthesised or implemented design is open")

    do_opt_design = do_place_design = do_route_design = do_write_checkpoint = _opened

    def _report(self, call: Call) -> None:
        self._opened(call)
        path = Path(call.options.get("-file", "."))
        if not path.parent.is_dir():
            raise RefusedError(f"-file: there is no folder {path.parent.name}")

    do_report_utilization = do_report_timing_summary = do_report_power = _report

    def do_get_timing_paths(self, call: Call) -> str:
        self._opened(call)
        return "path:slowest"

    def do_write_hw_platform(self, call: Call) -> None:
        self._opened(call)
        if not call.arguments[0].endswith(".xsa"):
            raise RefusedError(f"a hardware platform ends in .xsa, not {Path(call.arguments[0]).name}")
        if "-include_bit" in call.flags and "impl_1" not in self.launched:
            raise RefusedError("-include_bit: there is no bitstream")

    # Packaging.

    def do_ipx_package_project(self, call: Call) -> None:
        self._project()
        if self.top is None:
            raise RefusedError("the project has no top module to package")
        self.packaging = Path(call.options["-root_dir"])

    def _core(self, call: Call) -> None:
        if self.packaging is None or (call.arguments and call.arguments[-1] != "core:current"):
            raise RefusedError("no core is being packaged")

    do_ipx_create_xgui_files = do_ipx_update_checksums = _core

    def do_ipx_save_core(self, call: Call) -> None:
        self._core(call)
        self.packaging = None

    def do_ipx_check_integrity(self, call: Call) -> str:
        self._core(call)
        return "1"

    def do_ipx_current_core(self, call: Call) -> str:
        self._core(call)
        return "core:current"

    def do_ipx_get_bus_interfaces(self, call: Call) -> str:
        """What Vivado infers from names: the interfaces of AXI, the clock and the reset."""
        if self.packaging is None or self.top is None:
            raise RefusedError("no core is being packaged")
        source = "\n".join(path.read_text(encoding="utf-8") for path in self.files)
        names = [port.name for port in ports(source, self.top)]
        prefixes = {name.rpartition("_")[0] for name in names if name.endswith(("valid", "tvalid"))}
        return " ".join(f"bus:{name}" for name in sorted(prefixes | {"aclk", "aresetn"}))

    def do_ipx_associate_bus_interfaces(self, call: Call) -> None:
        self._core(call)

    # Block designs.

    def do_create_bd_design(self, call: Call) -> str:
        self._project()
        self.design = Design(call.arguments[0])
        return call.arguments[0]

    def _design(self) -> Design:
        if self.design is None:
            raise RefusedError("no block design is open")
        return self.design

    def do_create_bd_cell(self, call: Call) -> str:
        vlnv = call.options.get("-vlnv", "")
        parts = vlnv.split(":")
        known = ":".join(parts[:3])
        if call.options.get("-type") != "ip" or len(parts) not in (3, 4) or known not in self.catalogue:
            raise RefusedError(
                f"core {vlnv!r} is not in the catalogue; there are {', '.join(sorted(self.catalogue))}"
            )
        self._design().add_cell(call.arguments[0], known, self.catalogue[known])
        return call.arguments[0]

    def do_create_bd_port(self, call: Call) -> str:
        name, direction = call.arguments[0], call.options["-dir"]
        # An input of the design drives, as an output of a cell does.
        self._design().ports[name] = Pin(direction == "I")
        return name

    def do_create_bd_intf_port(self, call: Call) -> str:
        is_master = call.options["-mode"] == "Master"
        self._design().add_interface_port(call.arguments[0], call.options["-vlnv"], is_master)
        return call.arguments[0]

    def _objects(self, call: Call, known: Sequence[str]) -> str:
        found = [
            one for pattern in call.arguments for one in known if fnmatch.fnmatch(one, pattern.lstrip("/"))
        ]
        if not found and "-quiet" not in call.flags:
            raise RefusedError(f"nothing is called {' '.join(call.arguments)}")
        return " ".join(found)

    def do_get_bd_cells(self, call: Call) -> str:
        return self._objects(call, list(self._design().cells))

    def do_get_bd_pins(self, call: Call) -> str:
        return self._objects(call, list(self._design().pins()))

    def do_get_bd_ports(self, call: Call) -> str:
        return self._objects(call, list(self._design().ports))

    def do_get_bd_intf_pins(self, call: Call) -> str:
        return self._objects(call, list(self._design().interfaces()))

    def do_get_bd_intf_ports(self, call: Call) -> str:
        return self._objects(call, list(self._design().interface_ports))

    def do_get_bd_addr_spaces(self, call: Call) -> str:
        return self._objects(call, list(self._design().spaces()))

    def do_get_bd_addr_segs(self, call: Call) -> str:
        return self._objects(call, self._design().segments())

    def do_connect_bd_net(self, call: Call) -> None:
        self._design().connect([path for argument in call.arguments for path in _list(argument)])

    def do_connect_bd_intf_net(self, call: Call) -> None:
        self._design().connect_interfaces(*call.arguments)

    def do_apply_bd_automation(self, call: Call) -> None:
        design = self._design()
        if call.options["-rule"] != "xilinx.com:bd_rule:zynq_ultra_ps_e":
            raise RefusedError(f"rule {call.options['-rule']} is unknown")
        if design.cells[call.arguments[0]].vlnv != "xilinx.com:ip:zynq_ultra_ps_e":
            raise RefusedError(f"{call.arguments[0]} is no zynq_ultra_ps_e")
        if not self.properties.get("board_part"):
            raise RefusedError("apply_board_preset needs a project with a board_part")

    def do_assign_bd_address(self, call: Call) -> None:
        missing = {"-offset", "-range", "-target_address_space"} - call.options.keys()
        if missing or len(call.arguments) != 1:
            raise RefusedError(
                f"write {', '.join(sorted(missing)) or 'one segment'}: what Vivado chooses is not checked"
            )
        offset, size = (int(call.options[name], 0) for name in ("-offset", "-range"))
        self._design().assign(call.options["-target_address_space"], call.arguments[0], offset, size)

    def do_validate_bd_design(self, _call: Call) -> None:
        faults = list(self._design().faults())
        if faults:
            raise RefusedError("; ".join(faults))
        self._design().validated = True

    def do_make_wrapper(self, call: Call) -> None:
        if not call.options.get("-files") and not call.arguments:
            raise RefusedError("there is no file to make a wrapper for")
        self.wrapper = f"{self._design().name}_wrapper"

    def do_generate_target(self, call: Call) -> None:
        if not call.arguments[1]:
            raise RefusedError("there is nothing to generate")
        if not self._design().validated:
            raise RefusedError("the block design was not validated")
        described = (
            self._project() / f"{self.name}.gen" / "sources_1" / "bd" / self._design().name / "hw_handoff"
        )
        described.mkdir(parents=True, exist_ok=True)
        (described / f"{self._design().name}.hwh").write_bytes(b"")

    # Constraints: an XDC file is Tcl, too.

    def do_get_ports(self, call: Call) -> str:
        known = list(self._design().ports) if self.design is not None else list(self._core_ports())
        return " ".join(f"port:{one}" for one in self._objects(call, known).split())

    def _core_ports(self) -> list[str]:
        source = "\n".join(path.read_text(encoding="utf-8") for path in self.files)
        tops = re.findall(r"^module (\w+)", source, re.MULTILINE)
        return [port.name for port in ports(source, tops[0])] if tops else []

    def do_create_clock(self, call: Call) -> None:
        self.clocks[" ".join(call.arguments)] = float(call.options["-period"])


def _list(text: str) -> list[str]:
    """The words of a Tcl list whose words have no braces inside braces, and no escapes."""
    return [word[0] or word[1] for word in re.findall(r"\{([^{}]*)\}|(\S+)", text)]


def _paths(arguments: Sequence[str]) -> list[Path]:
    return [Path(path) for argument in arguments for path in _list(argument)]
