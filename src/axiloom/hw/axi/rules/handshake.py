"""What VALID promises: AXI's handshake, which all channels of all three protocols share."""

from __future__ import annotations

from amaranth.hdl import Cat, Value

from axiloom.hw.axi.rules.language import Rule, Side, Watch

PAYLOAD = {
    "aw": "id addr len size burst lock cache prot qos region user",
    "w": "data strb last user",
    "b": "id resp user",
    "ar": "id addr len size burst lock cache prot qos region user",
    "r": "id data resp last user",
    "t": "data strb keep last id dest user",
}
"""Channel to what goes with its VALID."""


def handshake(watch: Watch, channel: str, by: Side) -> None:
    """VALID stays until READY, and so does what goes with it; in reset VALID is low."""
    document, section = ("IHI 0051", "2.2.1") if channel == "t" else ("IHI 0022", "A3.2.1")
    after_reset = "2.7.2" if channel == "t" else "A3.1.2"
    name = channel.upper()
    valid, ready = watch.get(f"{channel}valid"), watch.get(f"{channel}ready", 1)
    payload = Cat(
        watch.get(channel + field) for field in PAYLOAD[channel].split() if watch.has(channel + field)
    )
    waits = watch.register(f"{channel}_waits", valid & ~ready)
    before = watch.before(f"{channel}_before", payload)
    watch.rule(
        Rule(f"{channel}_held", by, f"{name}VALID stays until {name}READY", f"{document} {section}"),
        ~waits | valid,
    )
    watch.rule(
        Rule(
            f"{channel}_stable",
            by,
            f"what comes with {name}VALID does not change until {name}READY",
            f"{document} {section}",
        ),
        ~waits | ~valid | (payload == before),
    )
    in_reset = watch.before(f"{channel}_in_reset", watch.reset)
    watch.rule(
        Rule(
            f"{channel}_reset",
            by,
            f"{name}VALID is low in the first cycle after a reset",
            f"{document} {after_reset}",
        ),
        ~in_reset | ~valid,
    )
    if channel not in ("aw", "w", "ar"):  # which may wait for other channels
        taken(watch, channel, by.other, valid & ~ready)
    watch.cover(f"{channel}_moves", f"a transfer on {name}", valid & ready, needed=True)
    watch.cover(f"{channel}_stalls", f"a transfer on {name} that had to wait", waits & valid & ready)


def taken(watch: Watch, channel: str, by: Side, waits: Value) -> None:
    """`by` owes READY."""
    document, section = ("IHI 0051", "2.2.1") if channel == "t" else ("IHI 0022", "A3.3.1")
    name = channel.upper()
    text = f"what comes with {name}VALID is taken"
    watch.owe(Rule(f"{channel}_taken", by, text, f"{document} {section}"), waits)
