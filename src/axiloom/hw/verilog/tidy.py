"""Makes the Verilog that Yosys prints from Amaranth's netlist readable.

Yosys splits every expression into nameless wires of one operator each, and every register into a
clocked process and a combinational one. This undoes both, without changing what any named signal
does, drops what nothing reads, joins modules that are equal, and writes ports where modules begin::

    assign \\$1  = ~ stop;                       assign tready = collecting & ~stop & w_rdy;
    assign \\$2  = collecting & \\$1 ;            always @(posedge aclk) begin
    assign \\tready  = \\$2  & w_rdy;        =>     if (finished) active <= 1'h0;
    always @(posedge aclk) active <= \\$40 ;      end
    always @* begin
      \\$40  = active;
      if (finished) begin \\$40  = 1'h0; end
    end

It knows only the form in which ``write_verilog`` prints, not Verilog.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from axiloom.hw.verilog.inline import Inliner
from axiloom.hw.verilog.names import plain_names
from axiloom.hw.verilog.process import layout

SHORT = 24
"""An expression of so few characters is repeated rather than given a wire that has no name."""

_NAME = re.compile(r"(?<![\w'.$])[A-Za-z_]\w*")
_DECLARATION = re.compile(
    r"(?P<kind>input|output|wire|reg) (?P<range>\[-?\d+:\d+\] )?"
    r"(?P<name>\w+)(?P<depth> \[\d+:\d+\])?(?P<init> = .+)?;"
)
_NAMELESS = re.compile(r"_\d+(_\d+)?")
_TARGET = re.compile(r"(?:^|[)] )\s*(\w+)(?:\[[^]]*\])? <?= ", re.MULTILINE)
_ASSIGN = re.compile(r"assign (\S.*?) = (.*);", re.DOTALL)
_CLOCKED = re.compile(r"always @\(posedge (\w+)\)\s+(\w+) <= (\w+);")
_ZERO_INIT = re.compile(r"(  initial begin\n)((?:    \\?\S+ ?\[\d+\] = \d+'[hd]0+;\n)+)(  end\n)")
_ROW = re.compile(r"    (\S+ ?)\[(\d+)\] = (.*);\n")
_ZERO_MEMORY = re.compile(r"initial begin\n  (\w+)\[0:(\d+)\] = (.*);\nend")
_TIME_ZERO = re.compile(r"^ *if \((_start\w*)\) begin end\n", re.MULTILINE)
"""How Yosys makes an ``always @*`` run at time 0: it reads a register that changes then."""
_KEPT_ATTRIBUTES = (
    "no_rw_check",
    "ram_style",
    "use_dsp",
    "keep",
    "dont_touch",
    "mark_debug",
    "async_reg",
    "shreg_extract",
)

_ASSIGNMENT = re.compile(r"^(.*?)(\w+(?:\[[^]]*\])?) (<?=) (.*);$", re.MULTILINE)


@dataclass
class _Signal:
    range: str = ""
    direction: str = ""
    is_reg: bool = False
    init: str = ""
    depth: str = ""
    attributes: str = ""

    @property
    def width(self) -> int:
        if not self.range:
            return 1
        left, right = map(int, self.range.strip(" []").split(":"))
        return left - right + 1


@dataclass
class _Module:
    name: str
    ports: list[str]
    signals: dict[str, _Signal] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)
    """Assignments, processes and instances as text, without the indentation of the first line."""

    def uses(self) -> Counter[str]:
        """How often each name occurs, assignments to it included."""
        return Counter(name for item in self.items for name in _NAME.findall(item))


def tidy(verilog: str, port_order: Sequence[str] = (), keep: Collection[str] = ()) -> str:
    """`verilog` as Yosys prints it, made readable. The ports of the first module come in `port_order`;
    names in `keep` belong to modules that are defined elsewhere."""
    short = _ZERO_INIT.sub(_zero_memory, verilog)
    texts = re.findall(r"^module .*?^endmodule", plain_names(short, keep), re.MULTILINE | re.DOTALL)
    modules = [_parse(text) for text in texts]
    for module in modules:
        _drop_aliases(module)
        _name_after_ports(module)
        _join_registers(module)
    _drop_unread_ports(modules)
    for module in modules:
        _inline(module)
        _drop_unread(module)
        _start_at_time_zero(module)
    order = {name: i for i, name in enumerate(port_order)}
    modules[0].ports.sort(key=lambda name: order.get(name, len(order)))
    return "\n".join(map(_print, _join_equal(modules)))


# --- reading ---


def _zero_memory(match: re.Match[str]) -> str:
    """One line, in a form of our own, for a memory that is zero at first: most of the text would be that."""
    rows = _ROW.findall(match[2])
    memory, _, zero = rows[0]
    if [row[:2] for row in rows] != [(memory, str(index)) for index in range(len(rows))]:
        return match[0]
    return f"{match[1]}    {memory}[0:{len(rows) - 1}] = {zero};\n{match[3]}"


def _parse(text: str) -> _Module:
    text = re.sub(r"\(\* full_case = .*? \*\) ?\n?", "", text)
    header = re.match(r"module (\w+)\s*\((.*?)\);\n", text, re.DOTALL)
    assert header, text[:100]
    module = _Module(header[1], _NAME.findall(header[2]))
    attributes = ""
    for item in _items(text[header.end() :].splitlines()[:-1]):
        if item.startswith("(*"):
            if any(item.startswith(f"(* {name}") for name in _KEPT_ATTRIBUTES):
                attributes += item + " "
            continue
        declaration = _DECLARATION.fullmatch(item)
        if declaration is None:
            module.items.append(attributes + re.sub(r" +;", ";", item))
            attributes = ""
            continue
        signal = module.signals.setdefault(declaration["name"], _Signal())
        signal.range = declaration["range"] or ""
        signal.depth = declaration["depth"] or ""
        signal.init = declaration["init"] or ""
        signal.attributes, attributes = signal.attributes or attributes, ""
        if declaration["kind"] in ("input", "output"):
            signal.direction = declaration["kind"]
        signal.is_reg |= declaration["kind"] == "reg"
    return module


def _items(lines: Iterable[str]) -> list[str]:
    """Lines put together to declarations, assignments, processes and instances, indented by two less."""
    items: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        continues = line.startswith("   ") or line in ("  end", "  );")
        if continues and items:
            items[-1] += "\n" + line[2:]
        else:
            items.append(line[2:])
    return items


# --- rewriting ---


def _substitute(module: _Module, replacements: dict[str, str]) -> None:
    if not replacements:
        return

    def replace(match: re.Match[str]) -> str:
        return replacements.get(match[0], match[0])

    module.items = [_NAME.sub(replace, item) for item in module.items]


def _drop_aliases(module: _Module) -> None:
    """Signals that only repeat another one take its name; ports and named signals keep theirs."""

    def rank(name: str) -> int:
        if module.signals[name].direction:
            return 0
        if module.signals[name].is_reg:
            return 1
        return 3 if _NAMELESS.fullmatch(name) else 2

    def current(name: str) -> str:
        while name in replacements:
            name = replacements[name]
        return name

    replacements: dict[str, str] = {}
    kept: list[str] = []
    for item in module.items:
        match = _ASSIGN.fullmatch(item)
        if match is None or not (match[1] in module.signals and match[2] in module.signals):
            kept.append(item)
            continue
        target, source = current(match[1]), current(match[2])
        same_range = module.signals[target].range == module.signals[source].range
        loses, wins = (target, source) if rank(target) >= rank(source) else (source, target)
        # A register is driven by its process; an input from outside: neither can give up its name.
        if not same_range or rank(loses) <= 1:
            kept.append(item)
            continue
        replacements[loses] = wins
    module.items = kept
    _substitute(module, {name: current(name) for name in replacements})


def _name_after_ports(module: _Module) -> None:
    """A nameless wire that an instance's port drives or reads is called after instance and port."""
    replacements: dict[str, str] = {}
    for item in module.items:
        instance = re.match(r"\w+ (\w+) \(\n", item)
        if instance is None:
            continue
        for port, wire in re.findall(r"\.(\w+)\((\w+)\)", item):
            name = f"{instance[1]}_{port}"
            if _NAMELESS.fullmatch(wire) and not port.startswith("port_") and name not in module.signals:
                if wire in replacements:
                    continue
                replacements[wire] = name
                module.signals[name] = module.signals.pop(wire)
    _substitute(module, replacements)


def _join_registers(module: _Module) -> None:
    """The process that computes a register's next value, and the one that stores it, become one."""
    uses = module.uses()
    processes: dict[str, int] = {}
    for i, item in enumerate(module.items):
        if item.startswith("always @*"):
            targets = set(_TARGET.findall(item))
            if len(targets) == 1:
                processes[targets.pop()] = i
    joined: dict[int, str] = {}
    gone: set[int] = set()
    for i, item in enumerate(module.items):
        clocked = _CLOCKED.fullmatch(item)
        if clocked is None or clocked[3] not in processes:
            continue
        clock, register, following = clocked.groups()
        process = processes[following]
        body = module.items[process]
        assignments = re.findall(rf"^\s*{following}(?:\[[^]]*\])? = ", body, re.MULTILINE)
        if following in module.ports or uses[following] != len(assignments) + 1:
            continue  # something else reads it, maybe outside
        body = re.sub(r"^always @\* begin\n", f"always @(posedge {clock}) begin\n", body)
        body = _TIME_ZERO.sub("", body)
        body = re.sub(rf"^ *{following} = {register};\n", "", body, flags=re.MULTILINE)
        body = re.sub(rf"^( *){following}(\[[^]]*\])? = ", rf"\1{register}\2 <= ", body, flags=re.MULTILINE)
        joined[i] = body
        gone.add(process)
    module.items = [joined.get(i, item) for i, item in enumerate(module.items) if i not in gone]


def _inline(module: _Module) -> None:
    """Put the expressions of nameless wires where they are read: in one place, unless they are short."""
    uses = module.uses()
    definitions = {
        match[1]: match[2]
        for item in module.items
        if (match := _ASSIGN.fullmatch(item))
        and _NAMELESS.fullmatch(match[1])
        and match[1] in module.signals
        and (uses[match[1]] == 2 or len(match[2]) <= SHORT)
    }
    inliner = Inliner(definitions, {name: signal.width for name, signal in module.signals.items()})

    def assignment(match: re.Match[str]) -> str:
        before, target, operator, value = match.groups()
        return f"{before}{target} {operator} {inliner.whole(value, inliner.width(target))};"

    items = []
    for item in module.items:
        if item.startswith(("assign", "always")):
            item = _ASSIGNMENT.sub(assignment, item)
            item = re.sub(r"\bif \((\w+)\)", lambda m: f"if ({inliner.condition(m[1])})", item)
        else:
            item = re.sub(
                r"^(\s*\.\w+)\((\w+)\)",
                lambda m: f"{m[1]}({inliner.port(m[2], inliner.width(m[2]))})",
                item,
                flags=re.MULTILINE,
            )
        items.append(item)
    module.items = items


def _drop_unread(module: _Module) -> None:
    """Remove what nothing reads: wires, and registers of one process too."""
    while True:
        uses = module.uses()
        drivers: dict[int, str] = {}
        writes: Counter[str] = Counter()
        for i, item in enumerate(module.items):
            if match := _ASSIGN.fullmatch(item):
                target = match[1].partition("[")[0]
            elif item.startswith("always"):
                targets = _TARGET.findall(item)
                if len(set(targets)) != 1:
                    continue
                target = targets[0]
                writes[target] += len(targets) - 1
            else:
                continue
            writes[target] += 1
            drivers[i] = target
        unread = {
            name
            for name, signal in module.signals.items()
            if not signal.direction and not signal.depth and uses[name] == writes[name]
        }
        if not unread:
            break
        module.items = [item for i, item in enumerate(module.items) if drivers.get(i) not in unread]
        for name in unread:
            del module.signals[name]


def _start_at_time_zero(module: _Module) -> None:
    """Give the register that starts each ``always @*`` its value in an event, not in its declaration.

    ``always @*`` waits for a change of what it reads. In Verilog (IEEE 1364-2005, 6.2.1) a value in a
    declaration is assigned at time 0, which is a change; in SystemVerilog (IEEE 1800-2017, 6.8) it is there
    before, and is none: a process that reads only registers and constants would never run. The line comes
    last, for simulators that start processes in the order of the text.
    """
    for name in sorted({name for item in module.items for name in _TIME_ZERO.findall(item)}):
        module.signals[name].init = ""
        module.items.append(f"initial {name} = 1'h0;")


def _drop_unread_ports(modules: Sequence[_Module]) -> None:
    """Remove the inputs that a module does not read, from the leaves up to, but not in, the top."""
    dropped: dict[str, set[str]] = {}
    for module in reversed(modules):
        items = []
        for item in module.items:
            if ports := dropped.get(item.partition(" ")[0]):
                item = re.sub(rf"\n  \.({'|'.join(ports)})\([^\n]*\)(?=[,\n])", "\n", item)
                item = re.sub(r"\n,?(?=\n)", "", item).replace(",\n);", "\n);")
            items.append(item)
        module.items = items
        _drop_unread(module)
        uses = module.uses()
        if module is modules[0]:
            break
        unread = {
            name for name in module.ports if module.signals[name].direction == "input" and not uses[name]
        }
        if unread:
            dropped[module.name] = unread
            module.ports = [name for name in module.ports if name not in unread]
            for name in unread:
                del module.signals[name]


# --- printing ---


def _join_equal(modules: list[_Module]) -> list[_Module]:
    """Modules that differ only in their name become one, named without the number of the instance."""
    kept: dict[str, _Module] = {}
    names: dict[str, str] = {}
    for module in reversed(modules):  # from the leaves to the top
        module.items = [_NAME.sub(lambda m: names.get(m[0], m[0]), item) for item in module.items]
        body = _print(_Module("", module.ports, module.signals, module.items))
        if body in kept:
            names[module.name] = kept[body].name
        else:
            kept[body] = module
    result = list(reversed(kept.values()))
    shared = set(names.values())
    taken = {module.name for module in result}
    final: dict[str, str] = {}
    for module in result:
        short = re.sub(r"_\d+$", "", module.name)
        if module.name in shared and short not in taken:
            taken.add(short)
            final[module.name] = short
    for module in result:
        module.name = final.get(module.name, module.name)
        module.items = [_NAME.sub(lambda m: final.get(m[0], m[0]), item) for item in module.items]
    return result


def _print(module: _Module) -> str:
    ports = []
    for name in module.ports:
        port = module.signals[name]
        kind = "reg " if port.is_reg else "wire"
        ports.append(f"  {port.direction:6} {kind} {port.range}{name}{port.init}")
    lines = [f"module {module.name} (", ",\n".join(ports), ");"]
    for name, signal in module.signals.items():
        if not signal.direction:
            kind = "reg " if signal.is_reg else "wire "
            lines.append(f"  {signal.attributes}{kind}{signal.range}{name}{signal.depth}{signal.init};")
    for item in module.items:
        lines.append("  " + _compact(item).replace("\n", "\n  "))
    return "\n".join(lines) + "\nendmodule\n"


def _compact(item: str) -> str:
    """One line for what has one statement; a loop for a memory that is zero at first."""
    if match := _ZERO_MEMORY.fullmatch(item):
        memory, last, zero = match.groups()
        return (
            f"initial begin : {memory}_at_start\n"
            f"  integer i;\n"
            f"  for (i = 0; i < {int(last) + 1}; i = i + 1) {memory}[i] = {zero};\n"
            "end"
        )
    return layout(item) if item.startswith("always") else item
