"""Sixty notes on matters of a town, five questions and ten answers of two systems, as the quickstart assumes them."""

from __future__ import annotations

from pathlib import Path

FACTS = {
    "bridge": (
        "What was decided about the Alder Street bridge?",
        [
            "The council voted 7 to 2 to rebuild the Alder Street bridge.",
            "Rebuilding the bridge will cost 3.4 million euros.",
            "The region pays half of the works on the bridge.",
            "The bridge is closed to lorries from June.",
        ],
        "The bridge will be sold to a hotel chain from abroad.",
    ),
    "library": (
        "How does the library change?",
        [
            "The library opens on Sundays from May.",
            "Twelve volunteers run the library's reading hours.",
            "The library lends tools since the autumn.",
            "The library budget stays at 210,000 euros.",
        ],
        "The library burnt down and moves into the old brewery.",
    ),
    "school": (
        "What is planned for the school in Mill Lane?",
        [
            "The school in Mill Lane gets four new classrooms.",
            "Lessons move to containers during the building of the classrooms.",
            "The school's kitchen will cook for 300 pupils.",
            "Parents asked for a crossing in front of the school.",
        ],
        "The school will teach only chess and swimming.",
    ),
    "water": (
        "What happened to the water supply in the dry summer?",
        [
            "Watering gardens was banned for six weeks in the dry summer.",
            "The reservoir fell to 31 percent of its volume in August.",
            "A second well was drilled behind the reservoir.",
            "Farmers received water from the neighbouring district.",
        ],
        "Ships brought icebergs from Greenland.",
    ),
    "tram": (
        "What is known about the new tram line?",
        [
            "The new tram line will run from the station to the hospital.",
            "The first tram on the new line is expected in 2029.",
            "Eleven stops are planned along the new tram line.",
            "Residents of Elm Road object to the noise of the tram.",
        ],
        "Every passenger of it receives a bicycle.",
    ),
}
"""Matter -> its question, what its notes say, and a sentence that none of them says."""

_ASIDES = (
    "The meeting began on time and the minutes of the last one were read.",
    "Coffee was served by the choir.",
    "The chair thanked the speakers for their patience.",
)
_NOTES_A_MATTER = 12


def write_quickstart(folder: Path) -> None:
    """Write `notes/`, `questions.txt` and `answers/SYSTEM/QUERY.md`."""
    for place, (matter, (_, facts, wrong)) in enumerate(FACTS.items(), 1):
        notes = folder / "notes" / matter
        notes.mkdir(parents=True)
        for number in range(1, _NOTES_A_MATTER + 1):
            said = [facts[number % 4], _ASIDES[number % 3], facts[(number + 1 + number // 4) % 4]]
            (notes / f"{number:02}.md").write_text(f"# {matter.capitalize()}, note {number}\n\n{' '.join(said)}\n")
        cited = [f"- {fact[:-1]} [{matter}/{(index or 4):02}.md]." for index, fact in enumerate(facts)]
        for system, lines in {"rag": cited, "agent": [cited[1], f"- {wrong[:-1]} [{matter}/01.md]."]}.items():
            answer = folder / "answers" / system / f"q{place}.md"
            answer.parent.mkdir(parents=True, exist_ok=True)
            answer.write_text("\n".join(lines) + "\n")
    questions = "".join(f"{question}\n" for question, _, _ in FACTS.values())
    (folder / "questions.txt").write_text(questions)
