"""`Kernel`: what an instruction computes, as `linalg.generic` says it.

Iterators, operands with affine maps, and a scalar body::

    O[c, oh, ow] = max(O, I[c, oh * sh + fh * dh, ow * sw + fw * dw])

    Kernel(
        "linalg.pooling_nchw_max",
        {"c": "parallel", "oh": "parallel", "ow": "parallel", "fh": "window", "fw": "window"},
        {"I": {"c": "c", "ih": "oh * sh + fh * dh", "iw": "ow * sw + fw * dw"}, "O": {"c": "c", ...}},
        "max(O, I)",
    )

From it follow which loops move an operand, what its tile is, what starts a sum, and what the functional model
computes (:mod:`axiloom.isa.opcode_map.kernels`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from axiloom.isa.kernels.language import body as bodies
from axiloom.isa.kernels.language.body import Apply, Body, BodyError, Name

PARALLEL, REDUCTION, WINDOW = "parallel", "reduction", "window"
KINDS = (PARALLEL, REDUCTION, WINDOW)
"""A loop over the result; one that is summed over, in tiles; one that is summed over whole, in every tile."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TERM = re.compile(r"(?:(?P<a>[A-Za-z_]\w*|\d{1,9})\s*\*\s*)?(?P<b>[A-Za-z_]\w*|\d{1,9})")
_LARGEST = 1 << 16


class KernelError(Exception):
    """Why something is no kernel: one line, with the place in it."""


@dataclass(frozen=True)
class Index:
    """A sum of iterators, each times a factor: ``oh * sh + fh * 2``. A factor may be a setting's name."""

    terms: Mapping[str, int | str]

    def __hash__(self) -> int:
        return hash(tuple(self.terms.items()))

    def __str__(self) -> str:
        return " + ".join(
            name if factor == 1 else f"{name} * {factor}" for name, factor in self.terms.items()
        )

    @property
    def plain(self) -> str | None:
        """The iterator that it is, if it is one and nothing else."""
        ((name, factor),) = self.terms.items() if len(self.terms) == 1 else ((None, 0),)
        return name if factor == 1 else None

    def factor(self, iterator: str, sizes: Mapping[str, int]) -> int:
        """The factor of an iterator under the settings in `sizes`."""
        factor = self.terms[iterator]
        return sizes[factor] if isinstance(factor, str) else factor

    def extent(self, sizes: Mapping[str, int]) -> int:
        """Elements between the first and the last one of a tile of `sizes`, both included."""
        return 1 + sum((sizes[term] - 1) * self.factor(term, sizes) for term in self.terms)


@dataclass(frozen=True)
class Kernel:
    """What an instruction computes. The last operand is the result, and every iterator moves some operand."""

    name: str
    """The MLIR operation that it is, ``linalg.pooling_nchw_max``, or a name of the user's own."""
    iterators: Mapping[str, str]
    """Iterator to its kind, one of `KINDS`, outermost first."""
    operands: Mapping[str, Mapping[str, str]]
    """Operand to its dims, each with its index: ``{"ih": "oh * sh + fh"}``."""
    text: str
    """The body: ``O + A * B``."""
    titles: tuple[str, ...] = field(default=(), compare=False)
    """What else people call it."""

    def __post_init__(self) -> None:
        for _ in (self.maps, self.body, self.settings):
            pass
        self._check()

    def __hash__(self) -> int:
        return hash((self.name, self.text, tuple(self.iterators.items())))

    @cached_property
    def maps(self) -> Mapping[str, Mapping[str, Index]]:
        """Operand to its dims, each with its `Index`."""
        return {
            operand: {dim: self._index(operand, dim, text) for dim, text in dims.items()}
            for operand, dims in self.operands.items()
        }

    @cached_property
    def body(self) -> Body:
        try:
            return bodies.parse(self.text)
        except BodyError as error:
            raise KernelError(f"body: {error}") from None

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.operands)[:-1]

    @property
    def output(self) -> str:
        return tuple(self.operands)[-1]

    @property
    def loops(self) -> tuple[str, ...]:
        """Iterators over whose tiles the host runs; a tile has the whole of the others."""
        return tuple(name for name, kind in self.iterators.items() if kind != WINDOW)

    @property
    def reductions(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.iterators.items() if kind != PARALLEL)

    @cached_property
    def derived(self) -> Mapping[str, Index]:
        """Dims of operands that are no iterators: the image under a result and its window."""
        return {
            dim: index for dims in self.maps.values() for dim, index in dims.items() if index.plain != dim
        }

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Factors with a name: strides and dilations."""
        factors = [f for dims in self.maps.values() for index in dims.values() for f in index.terms.values()]
        return tuple(dict.fromkeys(factor for factor in factors if isinstance(factor, str)))

    @cached_property
    def combine(self) -> str | None:
        """How a result is joined with what is there: an operation, or None where it takes its place."""
        return self._combination[0]

    @cached_property
    def term(self) -> Body:
        """What is joined: the body without the result."""
        return self._combination[1]

    @cached_property
    def _combination(self) -> tuple[str | None, Body]:
        output = Name(self.output)
        if self.output not in bodies.names(self.body):
            return None, self.body
        if isinstance(self.body, Apply) and self.body.operation in bodies.COMMUTATIVE:
            sides = list(self.body.arguments)
            if output in sides:
                sides.remove(output)
                (rest,) = sides
                if self.output not in bodies.names(rest):
                    return self.body.operation, rest
        known = ", ".join(f"`{op}`" for op in ("O + ...", "O * ...", "max(O, ...)", "min(O, ...)"))
        raise KernelError(f"body: `{self.text}` reads the result {self.output} in another way than {known}")

    def extents(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Sizes of the derived dims under those of iterators and settings."""
        return {dim: index.extent(sizes) for dim, index in self.derived.items()}

    def moved(self, operand: str) -> tuple[str, ...]:
        """The host's loops that move the tile of an operand, in the order of the iterators."""
        used = {term for index in self.maps[operand].values() for term in index.terms}
        return tuple(loop for loop in self.loops if loop in used)

    # --- checks ---------------------------------------------------------------------------------------

    def _index(self, operand: str, dim: str, text: str) -> Index:
        terms: dict[str, int | str] = {}
        for part in text.split("+"):
            match = _TERM.fullmatch(part.strip())
            sides = [side for side in (match["a"], match["b"]) if side] if match else []
            iterators = [side for side in sides if side in self.iterators]
            if len(iterators) != 1 or iterators[0] in terms:
                what = f"`{text}` is no sum of iterators times factors, such as `oh * 2 + fh`"
                raise KernelError(f"operands.{operand}.{dim}: {what}; iterators: {', '.join(self.iterators)}")
            sides.remove(iterators[0])
            factor = int(sides[0]) if sides and sides[0].isdecimal() else sides[0] if sides else 1
            if isinstance(factor, int) and not 0 < factor < _LARGEST:
                raise KernelError(f"operands.{operand}.{dim}: factor {factor} is not in 1 to {_LARGEST - 1}")
            terms[iterators[0]] = factor
        return Index(terms)

    def _check(self) -> None:
        for name, kind in self.iterators.items():
            if not _NAME.fullmatch(name):
                raise KernelError(f"iterators: `{name}` is no name of letters, digits and `_`")
            if kind not in KINDS:
                raise KernelError(f"iterators.{name}: `{kind}` is not one of {', '.join(KINDS)}")
        if len(self.operands) < 2:
            raise KernelError("operands: there must be an input and a result, which is the last one")
        for name in self.operands:
            if not _NAME.fullmatch(name):
                raise KernelError(f"operands: `{name}` is no name of letters, digits and `_`")
        unknown = [name for name in bodies.names(self.body) if name not in self.operands]
        if unknown:
            known = ", ".join(self.operands)
            raise KernelError(f"body: `{unknown[0]}` is no operand; the operands are {known}")
        unused = [name for name in self.inputs if name not in bodies.names(self.body)]
        if unused:
            raise KernelError(f"body: `{self.text}` does not read operand {unused[0]}")
        self._check_dims()
        if self.reductions and self.combine is None:
            what = f"{', '.join(self.reductions)} are reduced over, but the body does not read {self.output}"
            raise KernelError(f"body: {what}: `{self.output} + ...` would")

    def _check_dims(self) -> None:
        seen: dict[str, Index] = {}
        for operand, dims in self.maps.items():
            for dim, index in dims.items():
                if dim in self.iterators and index.plain != dim:
                    raise KernelError(f"operands.{operand}.{dim}: an iterator's name for `{index}`")
                if seen.setdefault(dim, index) != index:
                    raise KernelError(f"operands.{operand}.{dim}: `{index}`, but elsewhere `{seen[dim]}`")
        results = [index.plain for index in self.maps[self.output].values()]
        parallel = [name for name, kind in self.iterators.items() if kind == PARALLEL]
        if None in results or sorted(map(str, results)) != sorted(parallel):
            raise KernelError(
                f"operands.{self.output}: the dims of the result must be the parallel iterators, "
                f"{', '.join(parallel)}"
            )
        moving = {term for dims in self.maps.values() for index in dims.values() for term in index.terms}
        idle = [name for name in self.iterators if name not in moving]
        if idle:
            raise KernelError(f"iterators.{idle[0]}: it moves no operand; leave it out")
        clash = [name for name in self.settings if name in self.iterators or name in self.derived]
        if clash:
            raise KernelError(f"operands: factor `{clash[0]}` has the name of a dim")
