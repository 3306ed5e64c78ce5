"""Random instruction sets: loops, lanes, updates in place, writes that overlap, indices that may err."""

from __future__ import annotations

from random import Random

HEAD = """
word = input(64)
wide = input(512)
a = memory(8, 8, type=int8)
b = memory(64, type=int16)
c = memory(4, 4, 4, type=int32)
d = memory(40, type=uint8)
e = memory(16, 4, type=uint60)
s = register(uint4, 2)
t = register(int8)
T = table(3, 1, -4, 1, 5, -9, 2, 6)
def f(x: int16, y: int8) -> int16:
    z = clamp(x * y, -1000, 1000)
    return z + T[uint3(x)] if y > 0 else z
def g(x: int16) -> int16:
    n = f(x, 3)
    return int16(sum(n * k + T[k] for k in range(5)))
"""
MEMORIES = {"a": ((8, 8), "int8"), "b": ((64,), "int16"), "c": ((4, 4, 4), "int32"), "d": ((40,), "uint8"),
            "e": ((16, 4), "uint60")}  # fmt: skip
NARROW = ("int8", "uint6", "int16", "uint3", "int12", "uint16")


class Texts:
    """Writes one; `random` may be one of Hypothesis."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0

    def pick(self, *of: str) -> str:
        return of[self.random.randint(0, len(of) - 1)]

    def chance(self, percent: int) -> bool:
        return self.random.randint(0, 99) < percent

    def new(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    # --- expressions --------------------------------------------------------------------------------------

    def index(self, memory: str, known: dict[str, int]) -> str:
        """`known`: iterators with their counts, and names of any value with 0."""
        return ", ".join(self.dim(size, known) for size in MEMORIES[memory][0])

    def dim(self, size: int, known: dict[str, int]) -> str:
        iterators = [name for name, count in known.items() if count and count <= size]
        if iterators and self.chance(60):
            name = self.pick(*iterators)
            if known[name] == size or self.chance(50):
                return name
            return f"{name} + {self.random.randint(0, size - known[name])}"
        kind = self.random.randint(0, 5)
        if kind == 0 and self.chance(50):  # may lie outside
            return f"uint{size.bit_length()}({self.number(known, 1)})"
        if kind == 1 and len(iterators) >= 2:
            one, two = self.pick(*iterators), self.pick(*iterators)
            many = known[two]
            if known[one] * many <= size:
                return f"{many} * {one} + {two}"
            return f"({one} + {self.pick('1', '2', 's')} * {two}) % {size}"
        if kind == 2:
            return f"({self.number(known, 1)}) % {size}"
        if kind == 3 and size & (size - 1) == 0:
            return f"uint{size.bit_length() - 1}({self.number(known, 2)})"
        if kind == 4 and iterators:
            one = self.pick(*iterators)
            return f"{known[one] - 1} - {one}"
        return str(self.random.randint(0, size - 1))

    def number(self, known: dict[str, int], depth: int) -> str:
        """Of up to 20 bits or so."""
        if depth <= 0 or self.chance(25):
            kind = self.random.randint(0, 4)
            if kind == 0 or not known:
                return self.pick("s", "t", "word[8:14]", "word[20]", "3", "-5", "127", "1")
            return self.pick(*known)

        def part() -> str:
            return f"{self.pick(*NARROW)}({self.number(known, depth - 1)})"

        kind = self.random.randint(0, 16)
        if kind <= 3:
            memory = self.pick(*MEMORIES)
            return f"{memory}[{self.index(memory, known)}]" if memory != "e" else (
                f"int18(e[{self.index('e', known)}] >> {self.pick('0', '5', '40')})")  # fmt: skip
        if kind <= 5:
            return f"({part()} {self.pick('+', '-', '*', '&', '|', '^')} {part()})"
        if kind == 6:
            return f"({part()} {self.pick('//', '%')} {self.pick('3', '8', '(uint3(t) + 1)')})"
        if kind == 7:
            return f"({part()} {self.pick('<<', '>>')} {self.pick('2', 'uint2(t)', 'word[3:5]')})"
        if kind == 8:
            return f"{self.pick('min', 'max')}({part()}, {part()})"
        if kind == 9:
            return f"({part()} if {self.condition(known, depth - 1)} else {part()})"
        if kind == 10:
            return self.pick(f"abs({part()})", f"(~{part()})", f"(-{part()})")
        if kind == 11:
            return self.pick(f"f(int12({part()}), int8({part()}))", f"g(int12({part()}))")
        if kind == 12:
            return f"T[uint3({part()})]"
        if kind == 13:
            return f"cat(bits({part()} - 70000, 0, 3), bits({part()} - 70000, 1, 5))"
        if kind == 14:
            iterators = [name for name, count in known.items() if count and count <= 16]
            if iterators:
                return f"bits(wide, {self.pick('8', '16', '5')} * {self.pick(*iterators)}, 8)"
            return "wide[100:108]"
        if kind == 15:
            return f"({part()}){self.pick('[0:4]', '[2]', '[1:7]') if self.chance(0) else ''}"
        name, count = self.new("k"), self.random.randint(1, 4)
        inner = {**known, name: count}
        body = self.pick("product", "other")
        fold = self.pick("sum", "sum", "min", "max")
        if body == "product" and fold == "sum":
            one = self.pick("a", "b", "d")
            two = self.pick("a", "b", "d")
            return (f"int16(sum({one}[{self.index(one, inner)}] * {two}[{self.index(two, inner)}] "
                    f"for {name} in range({count})))")  # fmt: skip
        text = f"{self.pick(*NARROW)}({self.number(inner, depth - 1)})"
        return f"{fold}({text} for {name} in range({count}))"

    def condition(self, known: dict[str, int], depth: int) -> str:
        kind = self.random.randint(0, 5)
        sign = self.pick("<", "<=", "==", "!=", ">", ">=")
        one = f"{self.number(known, depth)} {sign} {self.number(known, depth)}"
        if kind == 0:
            return f"not ({one})"
        if kind == 1:
            return f"({one} {self.pick('and', 'or')} {self.condition(known, depth - 1)})"
        if kind == 2:
            name = self.new("q")
            inner = {**known, name: 3}
            return f"{self.pick('all', 'any')}({self.condition(inner, depth - 1)} for {name} in range(3))"
        return one

    def micro(self, at: str) -> list[str]:
        """Loops whose indices are computed, such as from micro-ops: they repeat, or not."""
        outer, inner, dst, src, lane = (self.new(stem) for stem in ("r", "r", "v", "v", "i"))
        step = self.pick("0", "4", "2", "s", "1")
        index = self.pick(
            f"d[{inner}][0:3]", f"{inner}", f"d[{inner} + 4]", f"T[uint3({inner})] & 3", f"uint2(t) + {inner}"
        )
        other = self.pick(f"d[{inner}][2:5]", dst, f"uint3({dst} + 4)", f"{inner} * 2", f"uint2({dst})")
        value = self.pick(f"a[{dst}, {lane}] + a[{src}, {lane}]", f"a[{dst}, {lane}] + b[{src}]",
                          f"sum(a[{dst}, k] * a[{lane}, k] for k in range(8))", f"b[{dst}] * {lane}",
                          f"a[{dst}, {lane}] + sum(c[{dst} & 3, 1, k] * a[{src}, k] for k in range(4))",
                          f"a[{src}, {lane}] if {src} == {dst} else a[{dst}, {lane}] - 1")  # fmt: skip
        many, turns = self.pick("2", "3", "word[16:18]"), self.pick("4", "8", "2", "word[18:20]")
        lines = [
            f"for {outer} in range({many}):",
            f"    for {inner} in range({turns}):",
            f"        {dst} = uint3({index} + {step} * {outer})",
            f"        {src} = uint3({other} + {self.pick('0', step)} * {outer})",
            f"        for {lane} in lanes(8):",
            f"            a[{dst}, {lane}] = int8({value})",
        ]
        if self.chance(40):
            lines.append(f"            b[8 * {dst} + {lane}] = a[{dst}, {lane}]")
        if self.chance(30):
            lines.append(f"            e[{dst}, {lane} % 4] = uint60(a[{dst}, {lane}])")
        return [at + line for line in lines]

    # --- statements ---------------------------------------------------------------------------------------

    def write(self, known: dict[str, int], at: str) -> list[str]:
        memory = self.pick("a", "b", "c", "d", "e")
        kind = MEMORIES[memory][1]
        index = self.index(memory, known)
        value = self.number(known, 3)
        form = self.random.randint(0, 5)
        if form <= 1:
            return [f"{at}{memory}[{index}] = {kind}({memory}[{index}] + {value})"]
        if form == 2 and memory != "e":
            return [f"{at}{memory}[{index}] = {self.pick('min', 'max')}({memory}[{index}], {kind}({value}))"]
        return [f"{at}{memory}[{index}] = {kind}({value})"]

    def simple(self, known: dict[str, int], at: str) -> list[str]:
        if self.chance(25):
            name = self.new("v")
            lines = [f"{at}{name} = {self.pick(*NARROW)}({self.number(known, 3)})"]
            known[name] = 0
            return lines
        if self.chance(10):
            name = self.new("v")
            lines = [f"{at}{name} = {self.number(known, 1)}"]
            known[name] = 0
            return lines
        return self.write(known, at)

    def block(self, known: dict[str, int], depth: int, at: str, *, nest: bool = False) -> list[str]:
        known, lines = dict(known), []
        for _ in range(self.random.randint(1, 2)):
            kind = self.random.randint(0, 11)
            if kind >= 10 and depth > 0 and not nest:
                lines += self.micro(at)
            elif depth > 0 and kind <= 3:
                name = self.new("r")
                low, count = self.pick(("0", "4"), ("0", "2"), ("2", "6"), ("1", "4"), ("0", "word[16:19]"),
                                       ("word[30]", "word[16:18] + 2"))  # fmt: skip
                lines.append(f"{at}for {name} in range({low}, {count}):")
                most = {"4": 4, "2": 2, "6": 6}.get(count, 4)
                lines += self.block({**known, name: most}, depth - 1, at + "    ", nest=True)
            elif kind <= 6:
                many = self.random.randint(1, 2)
                own = {self.new("i"): self.random.choice((2, 4, 4, 8, 5)) for _ in range(many)}
                lines.append(f"{at}for {', '.join(own)} in lanes({', '.join(map(str, own.values()))}):")
                inner = {**known, **own}
                for _ in range(self.random.randint(1, 2)):
                    lines += self.simple(inner, at + "    ")
                if not any("[" in one.split("=")[0] for one in lines[-2:]):
                    lines += self.write(inner, at + "    ")
            elif kind == 7 and not nest:
                lines.append(f"{at}{self.pick('s = uint4', 't = int8')}({self.number(known, 2)})")
            elif kind == 8 and depth > 0 and not nest:
                lines.append(f"{at}if {self.condition(known, 2)}:")
                lines += self.block(known, depth - 1, at + "    ")
                if self.chance(50):
                    lines.append(f"{at}else:")
                    lines += self.block(known, depth - 1, at + "    ")
            else:
                lines += self.simple(known, at)
        return lines

    def text(self) -> str:
        lines = [HEAD]
        for number in range(2):
            lines.append(f"@instruction(word[0:2] == {number})")
            lines.append(f"def op{number}():")
            lines += self.block({}, 2, "    ")
        return "\n".join(lines) + "\n"
