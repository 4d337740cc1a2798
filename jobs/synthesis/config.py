"""The configuration of a synthesis with chat models: read, and found out about before the first call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from actors.chat.opening import check_chat, load_prompt
from actors.storage.folder import file_place
from jobs.configs import read_yaml, validated
from longform.errors import UsageError
from longform.synthesis.written.checks import RULES
from longform.synthesis.written.outline import REGENERATED_AT
from longform.synthesis.written.replies import FORMS
from longform.synthesis.written.settings import ModelSynthesis, NewsTopic, Sizes, assignment

TOKENS_A_WORD = 2  # of a document as JSON: 1.3 is usual in English, and lengths are kept roughly


def read_config(name: str, changes: Sequence[str] = ()) -> ModelSynthesis:
    """
    The configuration of a file, or of a preset by its name, with `key=value` changes applied and seed files read.

    Raises:
        UsageError: It cannot be used, or a seed file cannot be read.
    """
    config = validated(ModelSynthesis, read_yaml(name, folder="configs/syntheses"), changes, where=name)
    topics = [_seeded(topic) if isinstance(topic, NewsTopic) else topic for topic in config.topics]
    return config.model_copy(update={"topics": tuple(topics)})


def _seeded(topic: NewsTopic) -> NewsTopic:
    try:
        read = [folder.read_bytes(name).decode() for folder, name in map(file_place, topic.seed_files)]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"topic {topic.title!r}: a seed file cannot be read: {error}") from error
    return topic.model_copy(update={"seed_articles": (*topic.seed_articles, *read), "seed_files": ()})


def check_synthesis(config: ModelSynthesis, *, with_keys: bool = True) -> None:
    """
    Find out before the first call what can be known to fail; keys of models are looked for if *with_keys*.

    Raises:
        UsageError: Models or prompts cannot be used, the output limit is too small for a document, or the sizes do not
            fit together even if all that is asked for is accepted.
    """
    for settings in config.chats.values():
        check_chat(settings, with_key=with_keys)
    if any(RULES[topic.domain].regenerate for topic in config.topics):
        check_chat(config.chats["planner"].model_copy(update={"temperature": REGENERATED_AT}), with_key=with_keys)
    for name in FORMS:
        load_prompt(name, config.prompts)
    words = max(_words_a_reply(topic.domain, config.sizes) for topic in config.topics)
    needed = TOKENS_A_WORD * words
    if config.writer.max_tokens < needed:
        raise UsageError(
            f"writer {config.writer.model!r}: max_tokens {config.writer.max_tokens} cuts replies of {words} words off; "
            f"set it to {needed} or more"
        )
    assignment(config.sizes, [config.sizes.insights] * config.sizes.subtopics, np.random.default_rng(config.seed))


def _words_a_reply(domain: str, sizes: Sizes) -> int:
    """Return the words of a whole article, or of one chapter."""
    return sizes.words // sizes.insights_per_document if RULES[domain].chapters else sizes.words
