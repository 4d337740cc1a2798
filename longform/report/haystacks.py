"""Names of haystacks for readers: their topics."""

from __future__ import annotations

from collections import Counter

from longform.results.results import Results


def haystack_name(results: Results, haystack_id: str) -> str:
    """
    Name a haystack by its topic.

    Its id stands behind a topic that several haystacks have, and alone if the topic is not known.
    """
    topics = results.get("haystack_topics") or {}
    topic = topics.get(haystack_id)
    if not topic:
        return haystack_id
    return topic if Counter(topics.values())[topic] == 1 else f"{topic} ({haystack_id})"
