"""Colours of the pages, from their stylesheet, by WCAG 2.2 (1.4.3 text, 1.4.11 graphics), light and dark."""

from __future__ import annotations

import re
from importlib import resources

import pytest

TEXT, GRAPHIC = 4.5, 3.0
GROUNDS = ("ground", "card", "block")
WORDS = ("ink", "soft", "accent")
MARKS = ("good", "bad", "faint")
NOT_COLOURS = {*GROUNDS, *WORDS, *MARKS, "rule"}
Colours = dict[str, str]


def themes(css: str) -> dict[str, Colours]:
    """The variables of each theme, those that stand for others followed."""
    blocks = re.findall(r":root \{(.*?)\}", css, re.S)
    light, dark = (dict(re.findall(r"--([a-z0-9_]+):\s*([^;]+);", block)) for block in blocks)
    both = {"light": light, "dark": light | dark}
    return {theme: {name: follow(name, colours) for name in colours} for theme, colours in both.items()}


def follow(name: str, colours: Colours) -> str:
    other = re.fullmatch(r"var\(--([a-z0-9_]+)\)", colours[name])
    return follow(other[1], colours) if other else colours[name]


def mixed(colour: str, ground: str, share: float) -> str:
    """As color-mix(in srgb, colour share, ground)."""
    pairs = zip(*(bytes.fromhex(text[1:]) for text in (colour, ground)), strict=True)
    return "#" + bytes(round(a * share + b * (1 - share)) for a, b in pairs).hex()


def luminance(colour: str) -> float:
    parts = [value / 255 for value in bytes.fromhex(colour[1:])]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def faults(css: str) -> list[str]:
    """What is hard to read: text on its grounds, marks, and drawn colours with the card's colour on them."""
    poor = []
    (heat,) = re.findall(r"--heat\) \* ([0-9.]+)", css)
    for theme, colours in themes(css).items():
        pairs = [(word, ground, TEXT) for word in WORDS for ground in GROUNDS]
        pairs += [(mark, ground, GRAPHIC) for mark in MARKS for ground in ("ground", "card")]
        pairs += [(name, "card", TEXT) for name in colours if name not in NOT_COLOURS]
        colours["heat"] = mixed(colours["pack"], colours["card"], float(heat))
        pairs.append(("ink", "heat", TEXT))
        poor += [
            f"{theme}: {a} on {b}: {contrast(colours[a], colours[b]):.2f}"
            for a, b, least in pairs
            if contrast(colours[a], colours[b]) < least
        ]
    return poor


@pytest.fixture(scope="module")
def css() -> str:
    return resources.files("axiloom.report.page").joinpath("page.css").read_text(encoding="utf-8")


def test_a_black_on_white_is_twenty_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)  # the lightest grey for text


def test_everything_can_be_read(css: str) -> None:
    assert faults(css) == []


def test_texts_have_no_colours_but_these(css: str) -> None:
    """A `color` or `fill` outside of the variables would not be looked at."""
    rules = css[css.index("* { box-sizing") :]
    named = set(re.findall(r"(?<![-a-z])(?:color|fill|background):\s*([^;}]+)", rules))
    plain = {value for value in named if "var(--" not in value and value.strip() not in ("none", "inherit")}
    assert plain == set()
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", rules)


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        ("--soft: #59626d", "--soft: #8a929c", "light: soft"),
        ("--code: #efe088", "--code: #4a4520", "dark: code"),
    ],
)
def test_a_poor_colour_is_found(css: str, now: str, then: str, said: str) -> None:
    assert now in css
    assert any(line.startswith(said) for line in faults(css.replace(now, then)))
