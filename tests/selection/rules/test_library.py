"""Each rule of the library is proved for all sizes, and NumPy finds nothing against it."""

from __future__ import annotations

import pytest
from tests.some import some

from axiloom.selection.rules import library
from axiloom.selection.rules.prove.verdicts import Answer, judge
from axiloom.selection.rules.rule import Rule

RULES = {rule.name: rule for text in library.every() for rule in text.rules}
_SLOW = (
    *("channels_last", "channels_last_back", "im2col", "im2col_of_channels_first", "multiply_out"),
    *("requantise_is_its_definition", "bias_before_transpose", "scaled_convolution"),
    *("scale_shift_is_its_definition", "scale_shift_is_its_definition_back"),
)


def _marked(rule: Rule) -> object:
    slow = rule.name in _SLOW or rule.place.startswith("recurrent")
    return pytest.param(rule, marks=pytest.mark.slow if slow else (), id=rule.name)


@pytest.mark.every(4)
@pytest.mark.parametrize("rule", some(map(_marked, RULES.values()), 3))
def test_rule(rule: Rule) -> None:
    proof = judge(rule, 120)
    assert proof.answer is Answer.PROVED, proof.why
    assert proof.every_size
    assert proof.tried >= 20


def test_names_are_of_one_rule_each() -> None:
    names = [rule.name for text in library.every() for rule in text.rules]
    assert len(names) == len(set(names))
    assert len(names) > 80
