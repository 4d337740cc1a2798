"""
Low-rank changes of a transformer's weights, and a checkpoint put together from a base and such a change.

Every linear layer W of the base becomes W + B A, with A (rank, inputs) and B (outputs, rank): Hu et al., LoRA (2021),
section 4.1, without a scale. A change of a small encoder is a few MB, the base is a package.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

_A, _B = ".low_rank_a", ".low_rank_b"
_UNUSED = re.compile(r"position_ids$|^bert\.pooler\.")
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


class LowRankLinear(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A frozen linear layer and its change, which is 0 at first."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(requires_grad=False)
        self.a = nn.Parameter(torch.empty(rank, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.a, a=5**0.5)

    def forward(self, inputs: Tensor) -> Tensor:
        changed: Tensor = self.base(inputs) + (inputs @ self.a.T) @ self.b.T
        return changed


def add_low_rank(model: nn.Module, rank: int) -> None:
    """Give every linear layer inside *model* a change of *rank*, and freeze its other weights."""
    model.requires_grad_(requires_grad=False)
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, LowRankLinear(child, rank))


def low_rank_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the changes inside *model*, by the layer's name, in half precision."""
    found: dict[str, Tensor] = {}
    for name, module in model.named_modules():
        if isinstance(module, LowRankLinear):
            found[name + _A], found[name + _B] = module.a.detach().half(), module.b.detach().half()
    return found


def with_low_rank(weights: Mapping[str, Tensor], change: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """
    Return *weights* with *change* added; tensors of the change that are no pair of a layer take their own name.

    Raises:
        ValueError: The change is of a layer that the weights do not have, or of another shape.
    """
    merged = dict(weights)
    for name in sorted(change):
        if name.endswith(_A):
            layer = name.removesuffix(_A) + ".weight"
            product = change[name.removesuffix(_A) + _B].float() @ change[name].float()
            if layer not in merged or merged[layer].shape != product.shape:
                raise ValueError(f"expected a layer {layer!r} of shape {tuple(product.shape)} in the base")
            merged[layer] = merged[layer] + product
        elif not name.endswith(_B):
            merged[name] = change[name].float()
    return merged


def write_checkpoint(base: Path, change: Mapping[str, Tensor], folder: Path) -> None:
    """
    Write a classifier of tokens, of one output, as Transformers loads it, from a BERT encoder and a change of it.

    *base* has config.json, model.safetensors and the tokenizer's files; its pooling is left out. *change* has layers of
    the encoder by their names in it (`encoder.layer.0...`), and `classifier`'s own tensors. The *folder* stands.
    """
    from safetensors.torch import load_file, save_file

    weights = {
        name.removeprefix("bert."): tensor.float() for name, tensor in load_file(base / "model.safetensors").items()
    }
    merged = with_low_rank(weights, change)
    named = {name if name.startswith("classifier.") else f"bert.{name}": tensor for name, tensor in merged.items()}
    kept = {name: tensor.contiguous() for name, tensor in named.items() if not _UNUSED.search(name)}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((base / "config.json").read_text(encoding="utf-8")) | {
        "architectures": ["BertForTokenClassification"],
        "id2label": {"0": "wrong"},
        "label2id": {"wrong": 0},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for name in _TOKENIZER_FILES:
        if (base / name).is_file():
            shutil.copyfile(base / name, folder / name)
