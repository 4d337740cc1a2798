"""BERT's layers as a graph of ONNX (Devlin et al., 2019, section 3; Vaswani et al., 2017, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

_OPSET = 20
"""The first with Gelu."""


class BertShape(NamedTuple):
    layers: int
    width: int  # of a token's vector
    inner: int  # width between the two maps of a layer
    heads: int
    epsilon: float  # added to a variance before its root


def weights_wanted(shape: BertShape) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of the layers' weights, as PyTorch keeps them."""
    square, row = (shape.width, shape.width), (shape.width,)
    found: dict[str, tuple[int, ...]] = {"embeddings.LayerNorm.weight": row, "embeddings.LayerNorm.bias": row}
    for layer in range(shape.layers):
        sizes: dict[str, tuple[int, ...]] = {
            **dict.fromkeys(("attention.self.query", "attention.self.key", "attention.self.value"), square),
            "attention.output.dense": square,
            "attention.output.LayerNorm": row,
            "intermediate.dense": (shape.inner, shape.width),
            "output.dense": (shape.width, shape.inner),
            "output.LayerNorm": row,
        }
        for name, size in sizes.items():
            found[f"encoder.layer.{layer}.{name}.weight"] = size
            found[f"encoder.layer.{layer}.{name}.bias"] = size[:1]
    return found


class BertGraph(NamedTuple):
    model: bytes  # of ONNX, without the weights
    weights: Mapping[str, NDArray[np.float32]]  # by the names that the model gives them


def bert_graph(shape: BertShape, weights: Mapping[str, NDArray[np.float32]]) -> BertGraph:
    """
    Return a model of ONNX from `embedded`, the sums of the three embeddings, to the last layer's vectors.

    Both have the shape (texts, tokens, width). Texts of a batch have as many tokens each: nothing is masked.
    """
    from onnx import TensorProto, helper

    made = _Graph(shape, weights)
    last = made.all_layers("embedded")
    size: list[str | int | None] = ["texts", "tokens", shape.width]
    inputs = [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, size)]
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, size)]
    graph = helper.make_graph(made.nodes, "bert", inputs, outputs, made.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=10)
    return BertGraph(model.SerializeToString(), made.weights)


class _Graph:
    """A graph while it is written. Methods take names of tensors, and return that of the new one."""

    def __init__(self, shape: BertShape, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.weights: dict[str, NDArray[np.float32]] = {}
        self._shape, self._read = shape, weights

    def all_layers(self, embedded: str) -> str:
        of_head = self._shape.width // self._shape.heads
        self._split = self._constant("split", np.array([0, 0, self._shape.heads, of_head]))  # 0: as it is
        self._joined = self._constant("joined", np.array([0, 0, self._shape.width]))
        self._scale = self._constant("scale", np.array(of_head**-0.5, dtype=np.float32))
        tokens = self._norm(embedded, "embeddings.LayerNorm")
        for layer in range(self._shape.layers):
            tokens = self._layer(tokens, f"encoder.layer.{layer}")
        return tokens

    def _layer(self, tokens: str, name: str) -> str:
        attended = self._dense(self._attention(tokens, f"{name}.attention.self"), f"{name}.attention.output.dense")
        tokens = self._norm(self._node("Add", attended, tokens), f"{name}.attention.output.LayerNorm")
        inner = self._node("Gelu", self._dense(tokens, f"{name}.intermediate.dense"))
        mapped = self._dense(inner, f"{name}.output.dense")
        return self._norm(self._node("Add", mapped, tokens), f"{name}.output.LayerNorm")

    def _attention(self, tokens: str, name: str) -> str:
        query, key, value = self._heads(tokens, name)
        query = self._node("Mul", self._node("Transpose", query, perm=[0, 2, 1, 3]), self._scale)
        key = self._node("Transpose", key, perm=[0, 2, 3, 1])
        value = self._node("Transpose", value, perm=[0, 2, 1, 3])
        shares = self._node("Softmax", self._node("MatMul", query, key), axis=-1)
        mixed = self._node("Transpose", self._node("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self._node("Reshape", mixed, self._joined)

    def _heads(self, tokens: str, name: str) -> Iterator[str]:
        """Yield queries, keys and values, shape (texts, tokens, heads, width of a head)."""
        for one in ("query", "key", "value"):
            yield self._node("Reshape", self._dense(tokens, f"{name}.{one}"), self._split)

    def _dense(self, tokens: str, name: str) -> str:
        weight = self._weight(f"{name}.weight", transposed=True)
        return self._node("Add", self._node("MatMul", tokens, weight), self._weight(f"{name}.bias"))

    def _norm(self, tokens: str, name: str) -> str:
        weight, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", tokens, weight, bias, axis=-1, epsilon=self._shape.epsilon)

    def _weight(self, name: str, *, transposed: bool = False) -> str:
        """Name a weight that stands outside the model: written into it, each would be copied three times."""
        from onnx import TensorProto

        value = np.ascontiguousarray(self._read[name].T if transposed else self._read[name])
        self.weights[name] = value
        outside = TensorProto(name=name, dims=value.shape, data_type=TensorProto.FLOAT)
        outside.data_location = TensorProto.EXTERNAL
        outside.external_data.add(key="location", value="weights")
        self.constants.append(outside)
        return name

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        made = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [made], **attributes))
        return made
