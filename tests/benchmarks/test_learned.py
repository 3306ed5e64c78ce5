"""The tasks of the trained kinds: what is right is right, and a short training learns something."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
torch = pytest.importorskip("torch")

from benchmarks.networks import learned  # noqa: E402  # after what it needs


@pytest.mark.slow
def test_what_is_right() -> None:
    codes = learned.codes()
    _, images = codes.held_back
    assert codes.right(images.numpy(), images.numpy()).all()
    assert codes.right(images.numpy()[::-1], images.numpy()).mean() < 0.3  # those of other digits
    text = learned.text(last=False)
    assert (text.inputs.argmax(-1)[:, 1:] == text.targets[:, :-1]).all()  # the next character of each
    assert text.right(text.inputs.numpy()[:, 1:], text.targets.numpy()[:, :-1]).all()


@pytest.mark.slow
def test_training_learns_and_repeats() -> None:
    task = learned.rows()

    def trained() -> tuple[float, float]:
        torch.manual_seed(1)
        network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
        inputs, targets = task.held_back

        def right() -> float:
            return float(task.right(network(inputs).detach().numpy(), targets.numpy()).mean())

        before = right()
        learned.train(network, task, 5)
        assert not network.training
        return before, right()

    before, after = trained()
    assert after > before + 0.5
    assert trained() == (before, after)
