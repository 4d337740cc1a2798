"""Lists of sources: found at the end of an answer, and read as what its numbers stand for."""

from __future__ import annotations

import pytest

from longform.text.source_lists import without_sources

BODY = "It is so [2]. It was so [1]."


@pytest.mark.parametrize(
    "listed",
    [
        "\n\nSources:\n[1] town-hall\n[2] herald.txt",
        "\n\n## References\n\n1. town-hall\n2. herald.txt\n",
        "\n**Quellen:**\n- [1] town-hall\n- [2]: herald.txt",
        "\n\nSources:\n- town-hall\n- herald.txt",
        "\n\n[1] town-hall\n[2] herald.txt",
        "\n[^1]: town-hall\n[^2]: herald.txt",
        "\n\nSources: [1] town-hall, [2] herald.txt",
        "\n\n参考文献\n【1】town-hall\n【2】herald.txt",
        "\n\nSources:\n¹ town-hall\n² herald.txt",
        "\n\n## Sources and references\n1. town-hall\n2. herald.txt",
        "\n\n📚 List of sources\n- town-hall\n- herald.txt",
        "\n\n5. References\n[1] town-hall\n[2] herald.txt",
        "\n\n(Sources: town-hall, herald.txt)",
        "\n\n**Notes:**\n1. town-hall\n2. herald.txt",
        "\n\nSource documents:\n- town-hall\n- herald.txt",
    ],
)
def test_a_list_says_what_numbers_stand_for(listed: str) -> None:
    body, names = without_sources(BODY + listed)

    assert body.strip() == BODY
    assert names == {1: "town-hall", 2: "herald.txt"}


@pytest.mark.parametrize(
    "text",
    [
        "It is so.\n\nSources\nThe sources of the river lie in the hills, and the town lies below them.",
        "Sources: [1] town-hall",
        "It is so.\n\n[1] The council voted for the bridge.\n[2] It costs 3.4 million euros.",
        "It is so [1].\n\n[1] The council voted for the bridge.",
        "It is so [1, 2].\n\n**Notes:**\n- The council voted for the bridge [3].\n- It costs 3.4 million euros [4, 5].",
        "It is so [1, 2].\n\n## Documents\n- The council voted for the bridge in May.\n- It costs 3.4 million euros.",
        "(1) It is so [1, 2]\n\n(2) The council voted [3]\n\n(3) It costs 3.4 million [1]",
        "(1) It is so\n\n(2) The council voted\n\n(3) It costs 3.4 million",
        "[Costs]: it is dear.\n[Shops]: they fear a quiet summer.",
    ],
)
def test_what_states_something_is_no_list(text: str) -> None:
    assert without_sources(text) == (text, {})


@pytest.mark.parametrize(
    "line", ["Sources: [1], [2]", "**Sources:** 1, 2", "Sources: Documents 1 and 2", "Citations: [1][2]"]
)
def test_a_list_of_numbers_that_are_cited_says_nothing_more(line: str) -> None:
    assert without_sources(f"{BODY}\n\n{line}") == (f"{BODY}\n", {})
    assert without_sources(f"It is so [3].\n\n{line}") == (f"It is so [3].\n\n{line}", {})


def test_a_definition_that_nothing_cites_stays_though_another_says_the_same() -> None:
    text = "It is so [^1].\n[^1]: town-hall\n[Costs]: town-hall"

    assert without_sources(text) == ("It is so [^1].\n[Costs]: town-hall", {1: "town-hall"})
