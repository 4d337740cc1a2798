"""The section that says how far to trust a made benchmark: its audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from longform.metrics.statistics import EstimateColumns
from longform.report.haystacks import haystack_name
from longform.report.line_plots import Line, line_plot
from longform.report.parts import INTERVAL, Section
from longform.report.plots import Plot
from longform.report.tables import Column, Table
from longform.results.audit import Audit, AuditedHaystack, Prose
from longform.results.columns import count_in, text_in
from longform.results.results import Results
from longform.tables.cells import NOT_RECORDED, Cell, count, number, percent, words

_NOT_AUDITED = (
    "Its gold documents follow from where its queries come from, and no judge has looked at them. What was rewritten "
    "or merged passed the checks below; `synthesis.json` beside the benchmark has the rest."
)
_UNKNOWN = "label noise is not known: the gold map has no cell of one kind"
_WIDE = 10  # points of a ceiling's interval
_MOST_HAYSTACKS = 40  # rows of a table that one still reads; the file has all


class Share(TypedDict):
    value: float | None
    low: float | None
    high: float | None


def audit_sections(results: Results) -> Iterator[Section]:
    """One section if the benchmark has an audit, or was made by checks that are counted; else none."""
    audit, synthesis = results.get("audit"), results.get("synthesis")
    if not audit:
        if synthesis:
            yield Section("audit", "How far to trust this benchmark", [_NOT_AUDITED], [*_checked(results, synthesis)])
        return
    haystacks = [_by_topic(results, row) for row in audit["haystacks"][:_MOST_HAYSTACKS]]
    tables = [_noise(audit), _haystacks(haystacks), _tenths(haystacks)]
    if written := [(row["haystack_id"], prose) for row in haystacks if (prose := row.get("prose"))]:
        tables.append(_prose(written))
    if synthesis:
        tables += [_made(results, synthesis), *_checked(results, synthesis)]
    yield Section("audit", "How far to trust this benchmark", _told(audit), tables)


def _by_topic(results: Results, row: AuditedHaystack) -> AuditedHaystack:
    return {**row, "haystack_id": haystack_name(results, row["haystack_id"])}


def score_distribution(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """The distribution of the scores by which key points were kept (LONG2RAG, figure 13), if they are probabilities."""
    synthesis = results.get("synthesis")
    for haystack in synthesis["haystacks"] if synthesis else ():
        if steps := haystack.get("scores"):
            shares = [(100 * step["score"], 100 * step["share"]) for step in steps]
            lines = [
                Line("points", [(at, _known(share)) for at, share in shares]),
                Line("even", [(at, _known(at)) for at, _ in shares]),
            ]
            plot = line_plot(lines, x_label="P(YES) at most, in per cent", y_label="share of points", name="p-yes")
            farthest = haystack.get("farthest_from_diagonal")
            told = "" if farthest is None else f" Farthest from the diagonal: {farthest:.2f}."
            yield plot, f"Points before the threshold by their score; the diagonal is what even scores have.{told}"


def _known(value: float) -> EstimateColumns:
    return {"value": value, "low": None, "high": None, "n": 1}


def _told(audit: Audit) -> list[str]:
    ceiling = audit["joint_ceiling"]
    shown = number(ceiling["value"], interval=(ceiling["low"], ceiling["high"]), reason=_UNKNOWN)
    cells, judged = audit["cells"], audit["judged"]
    reach = (
        f"A perfect system is expected to reach a joint score of {shown.text} {shown.detail}. " if shown.text else ""
    )
    told = (
        f"{reach}The gold map lists {cells['listed']:,} pairs of document and insight and leaves out "
        f"{cells['left_out']:,}. Judge {audit['judge']}, which had no part in making the documents, looked at each: it "
        f"rejects {judged['listed_rejected']:,} of those listed and accepts {judged['left_out_accepted']:,} of those "
        "left out, its own errors among them."
    )
    low, high = ceiling["low"], ceiling["high"]
    if shown.text and low is not None and high is not None and high - low > _WIDE:
        told += " So few pairs do not say more than that: on this benchmark, do not read much into a few points."
    hidden = len(audit["haystacks"]) - _MOST_HAYSTACKS
    return [told, f"The tables leave out {hidden} haystacks; audit.json has all."] if hidden > 0 else [told]


def _noise(audit: Audit) -> Table:
    caption = (
        "Label noise, and the ceiling it sets on the joint score (0 to 100) of a system without any error. Wrongly "
        "listed: share of the listed pairs whose document does not state the insight. Missed: share of the pairs left "
        f"out whose document does. Lower is better for both. {INTERVAL} Where the judge confuses what is stated with "
        "what is not, both shares are too high and the ceiling is too low."
    )
    columns = [Column(name) for name in ("wrongly listed", "missed", "ceiling on the joint score")]
    ceiling = audit["joint_ceiling"]
    row = [_share(audit["false_positives"]), _share(audit["missed"])]
    row.append(number(ceiling["value"], interval=(ceiling["low"], ceiling["high"]), reason=_UNKNOWN))
    return Table(caption, columns, [row])


def _share(estimate: Share | EstimateColumns) -> Cell:
    low, high = estimate["low"], estimate["high"]
    cell = percent(estimate["value"], reason=_UNKNOWN)
    return cell if low is None or high is None else cell._replace(detail=f"[{100 * low:.2f}, {100 * high:.2f}]")


def _haystacks(haystacks: Sequence[AuditedHaystack]) -> Table:
    planted = [row for row in haystacks if row["planted"] is not None]
    told = (
        "Found: planted statements that stand in their document word for word. Elsewhere: such statements in documents "
        "that the gold map does not give their insight; 0 is right. "
        if planted
        else f"What was planted where is not known: {haystacks[0]['reasons'].get('planted', NOT_RECORDED)}. "
    )
    caption = (
        "Each haystack. Documents an insight: how many the gold map gives each insight, fewest, mean and most. "
        f"{told}Near-duplicates: pairs of documents that share half of their runs of five words; 0 is right."
    )
    columns = [Column("haystack", numeric=False), Column("documents"), Column("insights")]
    columns += [Column(name, group="documents an insight") for name in ("fewest", "mean", "most")]
    if planted:
        columns += [Column(name, group="statements") for name in ("planted", "found", "elsewhere")]
    columns += [Column("near-duplicates")]
    if planted:
        columns += [Column("distractors"), Column("contradictions")]
    return Table(caption, columns, [_haystack(row, with_planted=bool(planted)) for row in haystacks])


def _haystack(row: AuditedHaystack, *, with_planted: bool) -> list[Cell]:
    spread, search, planted = row["documents_per_insight"], row["exact_search"], row["planted"]
    searched: list[Cell] = [
        count(None if search is None else count_in(search, name), reason=row["reasons"].get("exact_search"))
        for name in ("planted", "found", "elsewhere")
    ]
    others = [
        count(None if planted is None else planted.get(kind, 0), reason=row["reasons"].get("planted"))
        for kind in ("distractor", "contradiction")
    ]
    return [
        words(row["haystack_id"]),
        count(row["documents"]),
        count(row["insights"]),
        count(spread["least"]),
        number(spread["mean"]),
        count(spread["most"]),
        *(searched if with_planted else []),
        count(len(row["near_duplicates"])),
        *(others if with_planted else []),
    ]


def _tenths(haystacks: Sequence[AuditedHaystack]) -> Table:
    caption = (
        "Where statements of insights stand: share of them in each tenth of their document, in per cent. 10 in each "
        "would be even."
    )
    columns = [Column("haystack", numeric=False), Column("located by", numeric=False)]
    columns += [Column(str(tenth), group="tenth of the document") for tenth in range(1, 11)]
    return Table(caption, columns, [_places(row) for row in haystacks])


def _places(row: AuditedHaystack) -> list[Cell]:
    total = sum(row["tenths"])
    shares = [number(n / total if total else None, factor=100, digits=0, reason="no statement") for n in row["tenths"]]
    return [words(row["haystack_id"]), words(row["located_by"]), *shares]


def _prose(haystacks: Sequence[tuple[str, Prose]]) -> Table:
    caption = (
        "Whose words stand around planted sentences. A passage is the model's where a reply kept its planted sentence "
        "word for word, told no other number or date and, by the offline support judge, no other insight; where no try "
        "did, the grammar's template stays. Documents: those whose passages are all the model's, those where some are, "
        "and those that fell back to the template whole. Rejected replies: how many, and for what. That judge reads "
        "shared words, as this audit does: a fact that is told in quite other words neither of them sees."
    )
    columns = [Column("haystack", numeric=False), Column("model", numeric=False)]
    columns += [Column(name, group="documents") for name in ("by the model", "in part", "template")]
    columns += [Column(name, group="passages") for name in ("by the model", "template")]
    columns += [Column("all", group="replies"), Column("rejected", group="replies")]
    columns += [Column("for", group="replies", numeric=False)]
    return Table(caption, columns, [_written(*row) for row in haystacks])


def _written(haystack_id: str, prose: Prose) -> list[Cell]:
    counts = [
        count(count_in(prose, name))
        for name in ("by_model", "in_part", "by_template", "kept", "fallen_back", "replies")
    ]
    reasons = sorted(prose["rejected"].items(), key=lambda reason: (-reason[1], reason[0]))
    why = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in reasons) or "none"
    rejected = count(sum(prose["rejected"].values()))
    return [words(haystack_id), words(prose["model"]), *counts, rejected, words(why)]


# ---------------------------------------------------------------- made by chat models


def _checked(results: Results, synthesis: Mapping[str, Any]) -> list[Table]:
    given_up = [_given_up(results, synthesis["exhausted"])] if synthesis.get("exhausted") else []
    return [_checks(synthesis), *given_up]


def _made(results: Results, synthesis: Mapping[str, Any]) -> Table:
    roles: dict[str, list[str]] = {}
    for role, model in synthesis["models"].items():
        roles.setdefault(model, []).append(role)
    models = ", ".join(f"{' and '.join(names)} {model}" for model, names in roles.items())
    caption = (
        f"What came of what chat models were asked for ({models}). The gold map is the verifier's last word on each "
        "document. Not written: documents that no try got right. Too few: insights that fewer documents state than "
        "asked for. Lacking: pairs of document and insight that were assigned and are not in the gold map; leaked: the "
        "reverse, which are. Known: insights that a model told without any document. Read again: share of pairs on "
        f"which the verifier contradicted itself, which is the least that it errs. {INTERVAL}"
    )
    columns = [Column("haystack", numeric=False)]
    columns += [Column(name, group="documents") for name in ("written", "not written", "mean words")]
    columns += [Column(name, group="insights") for name in ("all", "too few", "known")]
    columns += [Column(name, group="pairs") for name in ("lacking", "leaked", "unchecked", "read again")]
    return Table(caption, columns, [_made_haystack(results, row) for row in synthesis["haystacks"][:_MOST_HAYSTACKS]])


def _made_haystack(results: Results, row: Mapping[str, Any]) -> list[Cell]:
    known = row["known_without_documents"]
    return [
        words(haystack_name(results, row["haystack_id"])),
        count(row["documents"]),
        count(row["documents_not_written"]),
        number(row["mean_words"], digits=0, reason="no document was written"),
        count(row["insights"]),
        count(len(row["insights_below_least_documents"])),
        count(None if known is None else len(known), reason="nobody was asked the queries without documents"),
        count(row["assigned_but_not_stated"]),
        count(row["stated_but_not_assigned"]),
        count(row["unchecked_cells"]),
        _read_again(row["read_again"]),
    ]


def _read_again(row: Mapping[str, Any]) -> Cell:
    if row["differing_share"] is None:
        return percent(None, reason="no document was read again")
    # accounts of earlier versions have no interval
    low, high = row.get("differing_low"), row.get("differing_high")
    return _share({"value": row["differing_share"], "low": low, "high": high})


def _checks(synthesis: Mapping[str, Any]) -> Table:
    caption = (
        "The checks of the synthesis, all haystacks together. Accepted, rejected: attempts. Given up: rejected, and "
        "nothing more was tried."
    )
    columns = [Column("check", numeric=False), Column("accepted if", numeric=False)]
    columns += [Column(name) for name in ("attempts", "accepted", "rejected", "given up")]
    rows = [row for row in synthesis["checks"] if row["attempts"]]
    return Table(
        caption,
        columns,
        [
            [
                words(row["check"]),
                words(row["accepted_if"]),
                *(count(count_in(row, name)) for name in ("attempts", "accepted", "rejected", "exhausted")),
            ]
            for row in rows
        ],
    )


def _given_up(results: Results, exhausted: Sequence[Mapping[str, Any]]) -> Table:
    shown = exhausted[:_MOST_HAYSTACKS]
    caption = (
        "What was given up: the check that it did not pass at its last attempt, and why. A document with leaks or "
        "omissions stays, and the gold map says what was found in it; a query becomes a plain question; what else "
        "was given up is left out of the benchmark. Insights are counted over the haystack, subtopic by subtopic."
    )
    if len(shown) < len(exhausted):
        caption += f" The first {len(shown)} of {len(exhausted):,}; synthesis.json has all."
    columns = [Column(name, numeric=False) for name in ("haystack", "check", "what")]
    columns += [Column("attempts"), Column("last reason", numeric=False)]
    rows = [
        [
            words(haystack_name(results, id_) if (id_ := text_in(row, "haystack_id")) else None),
            *(words(text_in(row, name)) for name in ("check", "subject")),
            count(row["attempt"]),
            words(row["reason"]),
        ]
        for row in shown
    ]
    return Table(caption, columns, rows)
