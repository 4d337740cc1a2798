"""Random checkpoints of a few kilobytes, saved to folders as a user's own would be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

WORDS = [
    "the",
    "bank",
    "cut",
    "rate",
    "a",
    "cab",
    "fed",
    "bee",
    "did",
    "fade",
    "one",
    "bad",
    "deed",
    "dead",
    "in",
    "cafe",
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = ".!?:"


def save_bert(
    folder: Path, *, n_labels: int, labels: Sequence[str] | None = None, eos: bool = False, of_words: bool = False
) -> str:
    """A cross-encoder of 64 positions, of pairs or of their tokens; equal weights for equal arguments."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertForTokenClassification, BertTokenizerFast

    torch.manual_seed(0)
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS), *MARKS, *WORDS]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary)))
    special = {"eos_token": "[SEP]"} if eos else {}
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64, **special).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(dict.fromkeys(vocabulary)),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=n_labels,
    )
    if labels:
        config.id2label = dict(enumerate(labels))
    kind = BertForTokenClassification if of_words else BertForSequenceClassification
    kind(config).save_pretrained(folder)
    return str(folder)


def save_byte_level(folder: Path) -> str:
    """A RoBERTa: its vocabulary tells " a" from "a", its positions begin behind the padding id, no token types."""
    import torch
    from tokenizers import ByteLevelBPETokenizer, processors
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification

    torch.manual_seed(0)
    learnt = ByteLevelBPETokenizer()
    text = " ".join(WORDS) + ". " + " ".join(word.capitalize() for word in WORDS) + "! Fed: one? deed."
    learnt.train_from_iterator([text] * 50, vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    backend = learnt._tokenizer
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    names |= {"cls_token": "<s>", "sep_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=64, **names).save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=backend.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=66,
        type_vocab_size=1,
        pad_token_id=1,
        num_labels=2,
        initializer_range=0.5,
    )
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def save_t5(folder: Path) -> str:
    """A Flan-T5 in small: relative positions, a tokenizer that puts its mark before each word."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    torch.manual_seed(0)
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(letter, -4.0) for letter in [*LETTERS, *LETTERS.upper(), *MARKS, "0", "1"]]
    pieces += [(f"▁{word}", -3.0) for word in [*WORDS, *(word.capitalize() for word in WORDS), "1"]]
    tokenizer = T5Tokenizer(vocab=list(dict(pieces).items()), extra_ids=0, model_max_length=64)
    tokenizer.save_pretrained(folder)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=1.5,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return str(folder)
