from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.local_models.tokenizer import TokenCounter

COUNTER = TokenCounter(threads=1)


def test_known_counts() -> None:
    assert COUNTER.count("tiktoken is great!") == 6  # the example in OpenAI's cookbook
    assert COUNTER.count("") == 0


def test_a_marker_in_a_document_is_ordinary_text() -> None:
    """A scraped page may hold `<|endoftext|>`; as a special token it would count 1, or be refused."""
    assert COUNTER.count("<|endoftext|>") == 7
    assert COUNTER.prefix_chars("<|endoftext|>", 100) == 13


@given(texts=st.lists(st.text(max_size=30), max_size=5))
def test_counts_of_many_are_the_counts_of_each(texts: list[str]) -> None:
    assert COUNTER.counts(texts) == [COUNTER.count(text) for text in texts]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_all_tokens_hold_all_characters(text: str) -> None:
    assert COUNTER.prefix_chars(text, COUNTER.count(text)) == len(text)
    assert COUNTER.prefix_chars(text, 0) == 0


@given(text=st.text(alphabet=st.sampled_from("ab 🧑‍🚀中é\n"), max_size=20), n_tokens=st.integers(0, 30))
def test_a_prefix_never_breaks_a_character(text: str, n_tokens: int) -> None:
    """An emoji is three tokens: with one or two of them nothing of it is kept, and never a replacement character."""
    kept = text[: COUNTER.prefix_chars(text, n_tokens)]
    assert text.startswith(kept)
    assert len(kept) <= COUNTER.prefix_chars(text, n_tokens + 1)


def test_half_an_emoji_is_not_kept() -> None:
    n_tokens = COUNTER.count("a 🧑")
    assert n_tokens > 2
    assert COUNTER.prefix_chars("a 🧑", n_tokens - 1) < len("a 🧑")


def test_a_counter_travels_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(COUNTER)).count("a b") == 2


def test_counting_imports_no_litellm_and_leaves_the_environment_alone() -> None:
    """Importing litellm takes seconds in every worker."""
    code = (
        "import os, sys; from actors.local_models.tokenizer import TokenCounter; before = dict(os.environ);"
        "TokenCounter(threads=1).count('a'); assert dict(os.environ) == before; assert 'litellm' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_released_haystack_has_the_tokens_the_paper_counts() -> None:
    """SummHay's haystacks hold 93,000 tokens on average; news3 holds 89.0 thousand."""
    folder = os.environ.get("LONGFORM_RELEASED_DATA")
    if not folder:
        pytest.skip("LONGFORM_RELEASED_DATA names no folder with released data")
    haystack = json.loads(gzip.decompress((Path(folder) / "summhay/topic_news3.json.gz").read_bytes()))
    total = sum(COUNTER.counts([document["document_text"] for document in haystack["documents"]]))
    assert round(total, -2) == 89_000
