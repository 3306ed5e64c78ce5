"""`--select egraph` for networks: choices by the costs of a system, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from axiloom.cosim.system import System
from axiloom.drivergen.network.offers import Network, Plan
from axiloom.report.columns import columns
from axiloom.report.types import Selected
from axiloom.run.costs import DOUBT, MARGIN, START, STARTED, Costs, on_cpu
from axiloom.selection.partition import Chooser, Selection
from axiloom.selection.partition.choose import Choice

CPU = "cpu"


@dataclass
class Select:
    """A :data:`axiloom.drivergen.network.offers.Choose`. `all_of_them`: the CPU gets what nobody takes."""

    system: System
    all_of_them: bool = False
    selection: Selection | None = field(default=None, init=False)
    failed: str = field(default="", init=False)
    """Why nothing could be chosen, if that was so: products are then matched."""

    def __post_init__(self) -> None:
        specs, board = self.system.specs, self.system.profile
        costs = Costs(specs, board)
        self._chooser = Chooser(
            [spec.kernel for spec in specs],
            costs.of,
            lambda step: on_cpu(step, board),
            left=not self.all_of_them,
            start=STARTED,
            margin=MARGIN,
            doubt=DOUBT,
            moved=START,
        )

    def __call__(self, network: Network) -> Plan:
        self.selection = self._chooser(network)
        return self.selection.plan

    @property
    def _made(self) -> Selection:
        assert self.selection is not None, "nothing was compiled"
        return self.selection

    def rows(self) -> list[Selected]:
        """A row a product: where it went, and what each candidate costs with the same ops around it."""
        return [
            {
                "location": choice.product.location,
                "title": choice.product.title,
                "place": self._name(choice.chosen.device),
                "ops": list(choice.chosen.ops),
                "form": self._form(choice),
                "cycles": choice.cycles,
                "candidates": {
                    self._name(candidate.device): candidate.cycles for candidate in choice.candidates
                },
                "refused": {self._name(device): why for device, why in choice.product.refused.items()},
            }
            for choice in self._made.choices
        ]

    def summary(self) -> list[str]:
        """For people: the choice, what it wins by the model, and how sure it is."""
        selection, names = self._made, [link.name for link in self.system.devices]
        counted = dict.fromkeys((*names, CPU), 0)
        for choice in selection.choices:
            counted[self._name(choice.chosen.device)] += 1
        where = ", ".join(f"{many} on {name}" for name, many in counted.items() if many)
        best = "the cheapest" if selection.bound >= selection.weight else "not proved the cheapest"
        rules = f"; forms by {', '.join(selection.rules)}" if selection.rules else ""
        return [
            f"Selected: {len(selection.choices)} products, {where}; {selection.cycles:,} cycles by the model "
            f"({selection.matching:,} by matching), {best} of {selection.ways} ways{rules}",
            *self._alone(),
        ]

    def lines(self) -> list[str]:
        """The same, with the table."""
        selection, names = self._made, [link.name for link in self.system.devices]
        times = ", ".join(f"{name} {1000 * took:.0f} ms" for name, took in selection.seconds.items())
        table: list[tuple[str, ...]] = [("op", *names, CPU, "goes to", "form")]
        for choice in selection.choices:
            costs = {self._name(candidate.device): f"{candidate.cycles:,}" for candidate in choice.candidates}
            along = len(choice.chosen.ops) - 1
            goes = self._name(choice.chosen.device) + (f" with {along} more" if along else "")
            cells = [costs.get(name, "-") for name in (*names, CPU)]
            table.append((choice.product.title, *cells, goes, self._form(choice)))
        return [
            *self.summary(),
            f"Replayed: {selection.compared} elements of chosen forms are those of their products, "
            "for all inputs",
            f"Time: {times}",
            *columns(table, "<" + ">" * (len(names) + 1) + "<<"),
        ]

    def _alone(self) -> list[str]:
        """What each of several accelerators would take with the CPU alone."""
        if len(self.system.devices) < 2:
            return []
        alone = (
            f"{self._name(device)} {'refuses a product' if cycles is None else f'{cycles:,}'}"
            for device, cycles in self._made.alone.items()
        )
        return [f"Cycles by the model with one accelerator alone: {', '.join(alone)}"]

    def _name(self, device: int | None) -> str:
        return CPU if device is None else self.system.devices[device].name

    def _form(self, choice: Choice) -> str:
        if choice.chosen.device is None:
            return ""
        form = next(
            candidate.form for candidate in choice.candidates if candidate.device == choice.chosen.device
        )
        if form is None:
            return "as drivergen matches it"
        return f"by {', '.join(form.rules)}" if form.rules else "as it stands"
