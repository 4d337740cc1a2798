"""
The size of each room of the product: numbers that are only ever lowered.

A change that makes a room smaller lowers its numbers, so that what was won is kept. A new capability is a new file in a
room that lists kinds, studies, formats or parts, and something else goes for it; or a file of at most 250 lines in the
room of what is new.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.places import ROOT

CODE = {".py", ".j2", ".js", ".css"}
HALLS = ("longform", "actors", "jobs", "serve", "lab")
SLACK = 0.97  # of a number: a room that is smaller still has its number lowered


class Room(NamedTuple):
    files: int
    lines: int
    where: str  # patterns of paths; a file belongs to the first room that has it


ROOMS = {
    "new since the house: layouts of answers, abbreviations of languages": Room(
        2, 260, "longform/text/layout.py longform/text/abbreviations.py"
    ),
    "new since the house: stages as one stream of operators, the page on how a run ran": Room(
        7,
        1_116,
        "jobs/stages/parcels.py jobs/stages/operators.py jobs/stages/stations.py jobs/stages/on_ray.py"
        " jobs/stages/inbox.py jobs/stages/accounts.py longform/report/how_it_ran.py",
    ),
    "new since the house: what is said if Ray ends a process": Room(1, 84, "jobs/stages/last_word.py"),
    "laboratory": Room(14, 2_496, "lab/*"),
    "synthesis": Room(50, 9_394, "longform/synthesis/* jobs/synthesis/* jobs/synthesize*.py actors/synthesis/*"),
    "serve": Room(23, 3_483, "serve/*"),
    "rehearsal": Room(11, 1_573, "longform/rehearsal/* actors/rehearsal/*"),
    "evidence as frames": Room(6, 644, "longform/evidence/* actors/surface/folders.py"),
    "tables": Room(6, 747, "longform/tables/*"),
    "results of older versions": Room(3, 429, "longform/studies/schema_1/*"),
    "studies": Room(22, 4_150, "longform/studies/*"),
    "results, report and the verbs that read": Room(
        82,
        14_435,
        "longform/results/* longform/report/* jobs/results/* actors/studies.py jobs/compar*.py jobs/gate.py"
        " jobs/correct.py jobs/export.py jobs/status.py jobs/report.py jobs/plan_sample.py",
    ),
    "judges, cards, calibration, sheets": Room(
        52, 9_222, "longform/judges/* actors/judges/* jobs/calibration/* jobs/calibrate.py jobs/annotate.py"
    ),
    "chat, quota, ledger, spending": Room(
        54,
        8_914,
        "longform/chat/* longform/quota/* actors/chat/* actors/ledger/* jobs/spending/* longform/spending.py"
        " jobs/ledger.py jobs/command/calling.py jobs/probe.py",
    ),
    "stages, runs, evaluate, judge, replay, cluster": Room(
        36,
        6_057,
        "jobs/stages/* jobs/runs/* jobs/evaluat*.py jobs/judge.py jobs/replay.py jobs/aggregate.py",
    ),
    "formats, ingest": Room(37, 6_440, "longform/formats/* jobs/ingest.py jobs/files/*"),
    "metrics, statistics, measures": Room(22, 3_295, "longform/metrics/* longform/measures.py actors/measures.py"),
    "settings, other verbs, presets": Room(32, 4_909, "longform/settings/* jobs/*"),
    "summaries, support, repair, text": Room(
        36, 4_822, "longform/summaries/* longform/support/* longform/repair/* longform/text/* actors/summarizers/*"
    ),
    "retrieval, local models, storage, surface, the rest": Room(66, 9_078, "*"),
}


def room_of(file: Path) -> str:
    path = file.relative_to(ROOT).as_posix()
    return next(name for name, room in ROOMS.items() if any(fnmatch(path, some) for some in room.where.split()))


@pytest.fixture(scope="module")
def sizes() -> dict[str, Room]:
    found = {name: Room(0, 0, room.where) for name, room in ROOMS.items()}
    for file in (file for hall in HALLS for file in (ROOT / hall).rglob("*") if file.suffix in CODE):
        name = room_of(file)
        files, lines, where = found[name]
        found[name] = Room(files + 1, lines + len(file.read_text().splitlines()), where)
    return found


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_is_as_large_as_it_may_be_and_its_numbers_follow_it(name: str, sizes: dict[str, Room]) -> None:
    for what, now, most in zip(("files", "lines"), sizes[name], ROOMS[name], strict=False):
        assert now <= most, f"{name} has {now} {what} and may have {most}: what can go for the new ones?"
        assert now >= SLACK * most - 1, f"{name} has {now} {what}: lower its number, {most}, in {Path(__file__).name}"
