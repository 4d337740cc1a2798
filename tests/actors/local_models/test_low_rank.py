from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from torch import nn


def taught(rank: int = 2) -> nn.Sequential:
    """Two layers whose changes are not 0."""
    import torch
    from torch import nn

    from actors.local_models.low_rank import LowRankLinear, add_low_rank

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    add_low_rank(model, rank)
    for module in model.modules():
        if isinstance(module, LowRankLinear):
            nn.init.normal_(module.b)
    return model


def test_a_change_does_nothing_at_first_and_leaves_the_base_alone() -> None:
    import torch
    from torch import nn

    from actors.local_models.low_rank import add_low_rank

    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 3))
    inputs = torch.randn(4, 6)
    before = plain(inputs)
    add_low_rank(plain, 2)
    assert torch.equal(plain(inputs), before)
    learned = {name for name, value in plain.named_parameters() if value.requires_grad}
    assert learned == {"0.a", "0.b", "1.a", "1.b"}


def test_base_and_change_put_together_are_the_trained_model() -> None:
    import torch
    from torch import nn

    from actors.local_models.low_rank import low_rank_tensors, with_low_rank

    model = taught()
    weights = {f"{place}.{name}": value for place in (0, 2) for name, value in model[place].base.named_parameters()}
    merged = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    merged.load_state_dict(with_low_rank(weights, low_rank_tensors(model)))
    inputs = torch.randn(8, 6)
    assert torch.allclose(merged(inputs), model(inputs), atol=1e-2)  # changes are kept in half precision
    assert not torch.allclose(
        merged(inputs), nn.Sequential(*[model[0].base, model[1], model[2].base])(inputs), atol=0.1
    )


def test_tensors_that_change_no_layer_are_taken_as_they_are() -> None:
    import torch

    from actors.local_models.low_rank import with_low_rank

    merged = with_low_rank({}, {"classifier.weight": torch.ones(1, 3).half()})
    assert merged["classifier.weight"].dtype == torch.float32


def test_a_change_of_another_base_is_refused() -> None:
    import torch

    from actors.local_models.low_rank import with_low_rank

    change = {"0.low_rank_a": torch.ones(2, 6), "0.low_rank_b": torch.ones(5, 2)}
    with pytest.raises(ValueError, match=r"'0\.weight' of shape \(5, 6\)"):
        with_low_rank({"0.weight": torch.zeros(5, 7)}, change)
    with pytest.raises(ValueError, match="expected a layer"):
        with_low_rank({}, change)
