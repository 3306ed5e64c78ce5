"""POM's networks, VGG-16 and ResNet-18 for images of 32x32 (CIFAR), without their last layers, as POM has
them.

Feature maps have a border of zeros, one pixel wide, so that a window of 3x3 stays in bounds (POM's have none
and read outside). Sums begin as zeros, a pool is a maximum, each layer has weights of its own.
"""

from __future__ import annotations

from axiloom.nests.program import Program
from axiloom.nests.program.builder import ArrayOf, Builder
from axiloom.nests.program.values import max_

WINDOW = 3


class Network:
    """`channels` of the first layer and `size` of the image: POM's are 64 and 32."""

    def __init__(self, name: str, size: int) -> None:
        self.p = Builder(name)
        self.maps, self.filters = 0, 0
        self.input = self.p.input("image", (3, size + 2, size + 2))

    def padded(self, channels: int, size: int, role: str = "local") -> ArrayOf:
        """A feature map, all zeros, border included."""
        self.maps += 1
        shape = (channels, size + 2, size + 2)
        padded = self.p.array(f"map{self.maps}", shape, "float32", role)
        p = self.p
        with p.loop("o", 0, channels) as o, p.loop("y", 0, size + 2) as y, p.loop("x", 0, size + 2) as x:
            padded[o, y, x] = 0.0
        return padded

    def convolve(self, X: ArrayOf, channels: int, stride: int = 1, window: int = WINDOW) -> ArrayOf:
        """The sums of a convolution. A window of one pixel is a projection."""
        p, (depth, height, _) = self.p, X.array.shape
        size = (height - 2) // stride
        Y = self.padded(channels, size)
        self.filters += 1
        W = p.input(f"filter{self.filters}", (channels, depth, window, window))
        edge = 1 if window == 1 else 0
        with (
            p.loop("o", 0, channels) as o,
            p.loop("y", 0, size) as y,
            p.loop("x", 0, size) as x,
            p.loop("i", 0, depth) as i,
            p.loop("p", 0, window) as a,
            p.loop("q", 0, window) as b,
        ):
            here = X[i, stride * y + a + edge, stride * x + b + edge]
            Y[o, y + 1, x + 1] += here * W[o, i, a, b]
        return Y

    def relu(self, Y: ArrayOf) -> ArrayOf:
        p, (channels, height, _) = self.p, Y.array.shape
        with p.loop("o", 0, channels) as o, p.loop("y", 1, height - 1) as y, p.loop("x", 1, height - 1) as x:
            Y[o, y, x] = max_(Y[o, y, x], 0.0)
        return Y

    def pool(self, X: ArrayOf, role: str = "local") -> ArrayOf:
        """The largest of 3x3, every second pixel. X is not negative, so that zeros are below all of it."""
        p, (channels, height, _) = self.p, X.array.shape
        size = (height - 2) // 2
        Y = self.padded(channels, size, role)
        with (
            p.loop("o", 0, channels) as o,
            p.loop("y", 0, size) as y,
            p.loop("x", 0, size) as x,
            p.loop("p", 0, WINDOW) as a,
            p.loop("q", 0, WINDOW) as b,
        ):
            Y[o, y + 1, x + 1] = max_(Y[o, y + 1, x + 1], X[o, 2 * y + a + 1, 2 * x + b + 1])
        return Y

    def add(self, A: ArrayOf, B: ArrayOf, role: str = "local") -> ArrayOf:
        """A + B and ReLU; the border is 0 + 0."""
        p, (channels, height, width) = self.p, A.array.shape
        self.maps += 1
        Y = p.array(f"map{self.maps}", A.array.shape, "float32", role)
        with p.loop("o", 0, channels) as o, p.loop("y", 0, height) as y, p.loop("x", 0, width) as x:
            Y[o, y, x] = A[o, y, x] + B[o, y, x]
        with p.loop("o", 0, channels) as o, p.loop("y", 0, height) as y, p.loop("x", 0, width) as x:
            Y[o, y, x] = max_(Y[o, y, x], 0.0)
        return Y


def vgg16(channels: int = 64, size: int = 32) -> Program:
    """13 convolutions and 5 pools; 313.2 M multiply-adds at POM's size."""
    net = Network("vgg16", size)
    X, stages = net.input, (2, 2, 3, 3, 3)
    for stage, layers in enumerate(stages):
        for _ in range(layers):
            X = net.relu(net.convolve(X, channels << min(stage, 3)))
        X = net.pool(X, "out" if stage == len(stages) - 1 else "local")
    return net.p.program()


def resnet18(channels: int = 64, size: int = 32) -> Program:
    """17 convolutions and 3 projections; 555.4 M multiply-adds at POM's size."""
    net = Network("resnet18", size)
    X = net.relu(net.convolve(net.input, channels))
    for block in range(8):
        wide, stride = channels << (block // 2), 2 if block in (2, 4, 6) else 1
        inner = net.relu(net.convolve(X, wide, stride))
        outer = net.convolve(inner, wide)
        short = net.convolve(X, wide, stride, window=1) if stride == 2 else X
        X = net.add(outer, short, "out" if block == 7 else "local")
    return net.p.program()
