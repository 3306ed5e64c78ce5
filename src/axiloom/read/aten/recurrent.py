"""ATen's ``lstm``: layers of sequences."""

from __future__ import annotations

from axiloom.graph.graph import Node
from axiloom.read.aten.call import Call, Rule
from axiloom.read.aten.moves import part


def _swapped(call: Call, x: Node) -> Node:
    return call.make("transpose", x, permutation=(1, 0, 2))


def _bias(call: Call, biases: list[Node], like: Node) -> Node:
    """The two biases as one; they are added once."""
    if not biases:
        return call.context.splat(0, like.type.shape[:1], like.type.number)
    a, b = biases
    if call.context.known(a, b):
        total = call.context.value(a) + call.context.value(b)
        return call.context.constant(total, a.type.number, f"{call.context.place}.bias")
    return call.make("add", a, b)


def _layer_of(call: Call, state: Node, layer: int) -> Node:
    """(layers, batch, hidden) to (batch, hidden)."""
    return call.context.reshape(part(call, state, 0, layer, layer + 1), state.type.shape[1:])


def _lstm(call: Call) -> tuple[Node, ...]:
    call.only(train=False, bidirectional=False)
    xs, (h, c), params = call.node("input"), call.given["hx"], call.given["params"]
    layers, biased = call.given["num_layers"], call.given["has_biases"]
    per_layer = 4 if biased else 2
    if len(params) != per_layer * layers or len(xs.type.shape) != 3:
        raise call.refuse(
            f"{len(params)} weights of {layers} layers: projections and unbatched inputs are not read"
        )
    if call.given["batch_first"]:
        xs = _swapped(call, xs)
    last_h, last_c = [], []
    for layer in range(layers):
        w_x, w_h, *biases = params[layer * per_layer : (layer + 1) * per_layer]
        first = (_layer_of(call, h, layer), _layer_of(call, c, layer))
        operands = (xs, *first, w_x, w_h, _bias(call, biases, w_h))
        xs, cells = call.make("lstm", *operands), call.make("lstm_cells", *operands)
        steps = xs.type.shape[0]
        last_h.append(part(call, xs, 0, steps - 1, steps))
        last_c.append(part(call, cells, 0, steps - 1, steps))
    joined = [
        states[0] if len(states) == 1 else call.make("concatenate", *states, dimension=0)
        for states in (last_h, last_c)
    ]
    return (_swapped(call, xs) if call.given["batch_first"] else xs, *joined)


RULES: dict[str, Rule] = {"lstm": _lstm}
