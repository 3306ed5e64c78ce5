"""The vendor's commands that our scripts may use, with options and arguments as UG835 lists them.

Only what every release from 2022.1 to 2024.2 has is in the table. `ipx::` commands are those of UG1118.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

ANY = 1_000
"""No limit."""


@dataclass(frozen=True)
class Command:
    """Options without (`flags`) and with a value, those that must be there, and how many arguments
    besides.
    """

    arguments: tuple[int, int] = (0, 0)
    flags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Option to the only values it may have."""


@dataclass(frozen=True)
class Call:
    """A command as a script gave it."""

    name: str
    flags: frozenset[str]
    options: dict[str, str]
    arguments: tuple[str, ...]


_QUIET = ("-quiet", "-verbose")
_GET = Command((0, ANY), ("-regexp", "-nocase", "-hierarchical"), ("-filter", "-of_objects"))

COMMANDS: dict[str, Command] = {
    "add_files": Command(
        (0, ANY), ("-norecurse", "-force", "-scan_for_includes"), ("-fileset", "-copy_to", "-of_objects")
    ),
    "apply_bd_automation": Command((1, ANY), (), ("-rule", "-config", "-dict"), ("-rule",)),
    "assign_bd_address": Command(
        (0, ANY),
        ("-boundary", "-external", "-force", "-master_boundary"),
        ("-target_address_space", "-offset", "-range", "-dict", "-import_from_file", "-export_to_file"),
    ),
    "close_project": Command((0, 0), ("-delete",)),
    "connect_bd_intf_net": Command((2, 2), (), ("-intf_net", "-boundary_type")),
    "connect_bd_net": Command((2, ANY), (), ("-net", "-boundary_type")),
    "create_bd_cell": Command(
        (1, 1), (), ("-vlnv", "-type", "-reference"), values={"-type": ("ip", "hier", "module", "container")}
    ),
    "create_bd_design": Command((1, 1), (), ("-dir", "-cell", "-bdsource")),
    "create_bd_intf_port": Command(
        (1, 1), (), ("-vlnv", "-mode"), ("-vlnv", "-mode"), {"-mode": ("Master", "Slave", "Monitor")}
    ),
    "create_bd_port": Command(
        (1, 1), (), ("-dir", "-type", "-from", "-to", "-freq_hz"), ("-dir",), {"-dir": ("I", "O", "IO")}
    ),
    "create_clock": Command((0, 1), ("-add",), ("-period", "-name", "-waveform"), ("-period",)),
    "create_project": Command((0, 2), ("-force", "-in_memory", "-ip", "-rtl_kernel"), ("-part",)),
    "current_bd_design": Command((0, 1)),
    "current_design": Command((0, 1)),
    "current_fileset": Command((0, 1), ("-constrset", "-simset", "-srcset")),
    "current_project": Command((0, 1)),
    "exit": Command((0, 1)),
    "generate_target": Command((2, 2), ("-force",)),
    "get_bd_addr_segs": Command(
        (0, ANY), ("-regexp", "-hierarchical", "-excluded", "-addressed"), ("-filter", "-of_objects")
    ),
    "get_bd_addr_spaces": Command((0, ANY), ("-regexp", "-hierarchical"), ("-filter", "-of_objects")),
    "get_bd_cells": _GET,
    "get_bd_intf_pins": _GET,
    "get_bd_intf_ports": _GET,
    "get_bd_pins": _GET,
    "get_bd_ports": _GET,
    "get_board_parts": Command(
        (0, ANY),
        ("-regexp", "-nocase", "-latest_file_version", "-latest_hw_revision"),
        ("-filter", "-of_objects"),
    ),
    "get_files": Command(
        (0, ANY), ("-regexp", "-nocase", "-all"), ("-filter", "-of_objects", "-compile_order", "-used_in")
    ),
    "get_ports": _GET,
    "get_property": Command((2, 2), ("-min", "-max")),
    "get_runs": Command((0, ANY), ("-regexp", "-nocase"), ("-filter", "-of_objects")),
    "get_timing_paths": Command(
        (0, ANY),
        ("-setup", "-hold", "-unique_pins"),
        ("-from", "-to", "-through", "-delay_type", "-max_paths", "-nworst", "-group"),
        values={"-delay_type": ("max", "min", "min_max")},
    ),
    "ipx::associate_bus_interfaces": Command(
        (0, 1), ("-clear", "-remove"), ("-busif", "-clock", "-reset"), ("-clock",)
    ),
    "ipx::check_integrity": Command((0, 1), ("-xrt", "-kernel")),
    "ipx::create_xgui_files": Command((0, 1)),
    "ipx::current_core": Command((0, 1)),
    "ipx::get_bus_interfaces": Command((0, ANY), ("-regexp", "-nocase"), ("-filter", "-of_objects")),
    "ipx::package_project": Command(
        (0, 0),
        ("-import_files", "-force", "-set_current", "-generated_files"),
        ("-root_dir", "-vendor", "-library", "-taxonomy", "-module", "-name", "-version"),
    ),
    "ipx::save_core": Command((0, 1)),
    "ipx::update_checksums": Command((0, 1)),
    "launch_runs": Command(
        (1, ANY),
        ("-scripts_only", "-next_step", "-force", "-email_all"),
        (
            "-jobs",
            "-to_step",
            "-dir",
            "-host",
            "-remote_cmd",
            "-lsf",
            "-sge",
            "-pre_launch_script",
            "-post_launch_script",
        ),
    ),
    "make_wrapper": Command(
        (0, 1), ("-top", "-testbench", "-inst_template", "-import", "-force"), ("-fileset", "-files")
    ),
    "open_run": Command((1, 1), (), ("-name", "-pr_config")),
    "opt_design": Command((0, 0), ("-retarget", "-propconst", "-sweep", "-remap"), ("-directive",)),
    "place_design": Command((0, 0), ("-no_timing_driven", "-timing_summary", "-unplace"), ("-directive",)),
    "read_verilog": Command((1, ANY), ("-sv",), ("-library",)),
    "read_xdc": Command(
        (1, ANY),
        ("-unmanaged", "-no_add"),
        ("-cells", "-ref", "-mode"),
        (),
        {"-mode": ("default", "out_of_context")},
    ),
    "report_power": Command(
        (0, 0),
        ("-no_propagation", "-append", "-return_string"),
        ("-file", "-format", "-name", "-xpe", "-rpx"),
    ),
    "report_timing_summary": Command(
        (0, 0),
        (
            "-check_timing_verbose",
            "-no_detailed_paths",
            "-setup",
            "-hold",
            "-unique_pins",
            "-input_pins",
            "-no_header",
            "-append",
            "-report_unconstrained",
            "-return_string",
            "-warn_on_violation",
            "-datasheet",
        ),
        (
            "-delay_type",
            "-max_paths",
            "-nworst",
            "-path_type",
            "-significant_digits",
            "-file",
            "-name",
            "-cells",
            "-rpx",
        ),
    ),
    "report_utilization": Command(
        (0, 0),
        ("-append", "-hierarchical", "-return_string", "-slr", "-no_primitives"),
        ("-file", "-pblocks", "-cells", "-name", "-hierarchical_depth", "-spreadsheet_file"),
    ),
    "route_design": Command(
        (0, 0), ("-unroute", "-timing_summary", "-tns_cleanup", "-nets"), ("-directive",)
    ),
    "save_bd_design": Command((0, 1)),
    "set_false_path": Command((0, 0), ("-setup", "-hold", "-rise", "-fall"), ("-from", "-to", "-through")),
    "set_property": Command((2, 3), (), ("-dict", "-name", "-value", "-objects")),
    "synth_design": Command(
        (0, 0),
        ("-rtl",),
        (
            "-name",
            "-part",
            "-constrset",
            "-top",
            "-include_dirs",
            "-generic",
            "-mode",
            "-directive",
            "-flatten_hierarchy",
        ),
        (),
        {"-mode": ("default", "out_of_context")},
    ),
    "update_compile_order": Command((0, 0), ("-force_gui",), ("-fileset",)),
    "update_ip_catalog": Command(
        (0, 0), ("-rebuild", "-update_module_ref"), ("-repo_path", "-add_ip", "-delete_ip")
    ),
    "validate_bd_design": Command((0, 1), ("-force", "-include_pfm"), ("-design",)),
    "version": Command((0, 0), ("-short",)),
    "wait_on_run": Command((1, 1), (), ("-timeout",)),
    "write_bitstream": Command((1, 1), ("-force", "-bin_file", "-no_partial_bitfile"), ("-cell",)),
    "write_checkpoint": Command((0, 1), ("-force",), ("-cell",)),
    "write_hw_platform": Command((0, 1), ("-fixed", "-force", "-include_bit", "-minimal", "-hw", "-hw_emu")),
}
"""Name to what it accepts; `-quiet` and `-verbose` belong to every command."""


def parse(name: str, words: Sequence[str]) -> tuple[Call, list[str]]:
    """The call, and what is wrong with its arguments (an empty list if nothing is)."""
    command = COMMANDS[name]
    flags: set[str] = set()
    options: dict[str, str] = {}
    arguments: list[str] = []
    faults: list[str] = []
    rest: Iterator[str] = iter(words)
    for word in rest:
        if word in command.flags or word in _QUIET:
            flags.add(word)
        elif word in command.options:
            value = next(rest, None)
            if value is None:
                faults.append(f"{word} needs a value")
            elif word in options:
                faults.append(f"{word} is given twice")
            options[word] = value or ""
        elif word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            known = ", ".join((*command.flags, *command.options)) or "none"
            faults.append(f"there is no option {word}; there are {known}")
        else:
            arguments.append(word)
    faults += [f"{word} is missing" for word in command.required if word not in options]
    for option, accepted in command.values.items():
        if option in options and options[option] not in accepted:
            faults.append(f"{option} must be {' or '.join(accepted)}, not {options[option]}")
    low, high = command.arguments
    if name == "set_property" and "-dict" in options:
        low, high = 1, 1
    if not low <= len(arguments) <= high:
        wanted = str(low) if low == high else f"{low} or more" if high == ANY else f"{low} to {high}"
        faults.append(f"takes {wanted} arguments, not {len(arguments)}")
    return Call(name, frozenset(flags), options, tuple(arguments)), faults
