"""Judges that stand before others, one that remembers and one that is their mean, and the rows of verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence

from actors.chat.model import CallContext
from actors.judges.opening import Judge, JudgeBackend
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Verdict, Verdicts, in_place, open_groups, shared_of
from longform.judges.matrix import JudgedText, groups_of, rows_of
from longform.judges.means import MEAN_VERSION, mean_verdict
from longform.keys import content_key, in_groups
from longform.rows import VerdictRow
from longform.settings.judges import MeanJudgeSettings

_PAIRS_HELD = 100_000  # those of a long summary and a haystack; some 50 MB with their evidence


class Remembering:
    """Asks another judge about pairs that it has not judged before: a pair of several summaries is judged once."""

    def __init__(self, kind: Kind, judge: JudgeBackend) -> None:
        self._kind, self._judge = kind, judge
        self._held: dict[tuple[str, str], Verdict] = {}  # by the key of the shared text, in the order of asking

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        wanted = {content_key(shared_of(group)): group for group in open_groups(self._kind, groups)}
        pairs = [(key, item) for key, group in wanted.items() for item in group.items]
        known = {pair: self._held[pair] for pair in pairs if pair in self._held}
        left = in_groups(pair for pair in pairs if pair not in known)
        new = [wanted[key]._replace(items=tuple(items)) for key, items in left.items()]
        verdicts = await self._judge.ask(new) if new else []
        for (key, items), of_group in zip(left.items(), verdicts, strict=True):
            known |= {(key, item): verdict for item, verdict in zip(items, of_group, strict=True)}
        self._held |= {pair: known[pair] for pair in pairs}
        for pair in list(self._held)[: max(0, len(self._held) - _PAIRS_HELD)]:
            del self._held[pair]
        rows = [[known[key, item] for item in group.items] for key, group in wanted.items()]
        return in_place(self._kind, groups, list(wanted.values()), rows)


class MeanJudge:
    """
    Gives the mean of judges of its kind, each of which is asked as it would be by itself.

    The mean names *members* in their order. *bounds* are the means at which the answer changes.
    """

    def __init__(self, kind: Kind, members: Mapping[str, JudgeBackend], *, bounds: Sequence[float]) -> None:
        self._kind, self._members, self._bounds = kind, members, bounds

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        found = await asyncio.gather(*(member.ask(groups) for member in self._members.values()))
        return [
            [
                mean_verdict(self._kind, dict(zip(self._members, of_pair, strict=True)), self._bounds)
                for of_pair in zip(*of_group, strict=True)
            ]
            for of_group in zip(*found, strict=True)
        ]


class ByMean(Judge):
    settings: MeanJudgeSettings

    def _version(self) -> Version:
        version = content_key(MEAN_VERSION, [member.version.work for member in self.members])
        return Version(version, f"{self.kind.mean}@{MEAN_VERSION}")

    def open(self, context: CallContext, threads: int) -> JudgeBackend:
        found = {member.name: member.open(context, threads) for member in self.members}
        return MeanJudge(self.kind, found, bounds=self.settings.bounds)


# ---------------------------------------------------------------- rows of verdicts

Rounds = Generator[list[Group], Verdicts, list[VerdictRow]]
"""Yields pairs that are to be judged, takes their verdicts, and returns the rows of `verdicts`."""


async def judged_rows(judge: Judge, backend: JudgeBackend, summaries: Sequence[JudgedText]) -> list[VerdictRow]:
    """Return the rows of `verdicts` on *summaries*; *backend* is *judge*, loaded. Each round is asked at once."""
    rounds = rounds_of(judge, summaries)
    try:
        groups = next(rounds)
        while True:
            groups = rounds.send(await backend.ask(groups))
    except StopIteration as ended:
        rows: list[VerdictRow] = ended.value
        return rows


def rounds_of(judge: Judge, summaries: Sequence[JudgedText]) -> Rounds:
    """Ask about all *summaries*, and go on with those that have something further to be judged."""
    rows: list[VerdictRow] = []
    while summaries:
        groups = [groups_of(judge.kind, summary) for summary in summaries]
        flat = [group for of in groups for group in of]
        left = iter((yield flat) if flat else [])
        further = []
        for summary, of_summary in zip(summaries, groups, strict=True):
            verdicts = [next(left) for _ in of_summary]
            new = rows_of(judge.kind, judge.name, summary, verdicts, version=judge.version.prompt)
            rows += new
            if summary.further is not None:
                further.append(summary.further(_supported(judge, new)))
        summaries = further
    return rows


def _supported(judge: Judge, rows: Sequence[VerdictRow]) -> set[int]:
    """Return the units that a target supports wholly."""
    counts = judge.kind.counts
    return {row["unit_index"] for row in rows if row["unit_index"] is not None and counts.get(row["answer"] or "") == 1}
