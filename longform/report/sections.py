"""The sections of a report: which tables it has, in which order, and what their captions say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.errors import LongformError
from longform.report.audit import audit_sections
from longform.report.calls import calls_sections
from longform.report.comparisons import clusters_told, comparison_sections
from longform.report.faithfulness import faithfulness_sections
from longform.report.orders import BY_CHANCE, order_independent, sensitivity_cells
from longform.report.parts import (
    INTERVAL,
    NO_DATASET,
    Results,
    Section,
    as_shown,
    by_judge,
    card_words,
    has_datasets,
    in_sample_told,
    judge_cell,
    judge_line,
    main_cells,
    repeats_told,
)
from longform.report.repair import repair_sections
from longform.report.tables import (
    MEASURES,
    Cell,
    Column,
    Row,
    Table,
    beside_originals,
    best_first,
    count,
    is_wide,
    marked_settings,
    number,
    percent,
    reason,
    score_grid,
    score_list,
    scored,
    setting_cell,
    settings_of,
    share_cut,
    summarizer_cell,
    summarizers_by_joint,
    words,
)
from longform.report.work import TOLD_IN_TABLES, work_tables

_POSITION = "Position of the relevant documents"

_SCORES = (
    "Scores from 0 to 100, higher is better. Coverage: how much of the reference insights the summary states. "
    "Citation: F1 of the cited documents against those that state the insight, over covered insights. "
    "Joint: coverage times citation of each insight, 0 where it is not covered."
)
_ASIDES = (
    "Words a bullet: length, neither better nor worse. Cut: share of the retrieved tokens that the limit took away. "
    "Unjudged: share of insights without a readable judgement; lower is better."
)
_UNREADABLE = "unknown: left out of every mean, and counted as unjudged"
_AGGREGATE = {
    "pooled": "pooled: the mean of all insights of all summaries together",
    "per_summary": "per summary: the mean of the summaries' own means",
}
_UNSET = "not set, or not known"
_FAILURE_MODES = ("linked", "header", "other_subtopic", "generic", "unsupported", "unclassified")


def sections(results: Results) -> list[Section]:
    """
    The sections that *results* has anything for, in reading order.

    Raises:
        LongformError: `title` or `aggregate` is missing or not one of the known words.
    """
    candidates = [
        Section("unscored", "What is not scored", list(results.get("unscored") or []), []),
        Section("models", "Several models under one name", _several_models(results), []),
        *_scores(results),
        *comparison_sections(results),
        *_position(results),
        *_retrieval(results),
        *_citation(results),
        *repair_sections(results),
        *faithfulness_sections(results),
        *_curve(results),
        *_failure_modes(results),
        *_all_cells(results),
        *_judges(results),
        *audit_sections(results),
        *calls_sections(results),
        _provenance(results),
    ]
    return [
        section._replace(tables=[as_shown(table) for table in section.tables])
        for section in candidates
        if section.tables or section.listing or section.paragraphs
    ]


def _several_models(results: Results) -> list[str]:
    """One sentence a summarizer and data set."""
    rows = results.get("several_models") or []
    names = [row["summarizer"] + (f" on {row['dataset']}" if row["dataset"] else "") for row in rows]
    return [
        f"{name}: its summaries were written by "
        f"{len(row['models'])} models, as the provider answered: "
        f"{', '.join(f'{model} ({n})' for model, n in row['models'].items())}. Its rows pool them; name one version "
        "of the model in the configuration, or give each version a summarizer of its own, to tell them apart."
        for name, row in zip(names, rows, strict=True)
    ]


def _named(results: Results, row: Row, names: Sequence[str]) -> list[Cell]:
    """The texts that say what a row is about; a judge with the scale of its scores."""
    return [_name_cell(results, row, name) for name in names]


def _name_cell(results: Results, row: Row, name: str) -> Cell:
    if name == "judge":
        return judge_cell(results, row.get(name), reason=reason(row, name))
    if name == "summarizer":
        return summarizer_cell(row)
    if name in ("setting", "system"):
        return setting_cell(row, name)
    return words(row.get(name), reason=NO_DATASET if name == "dataset" else reason(row, name))


_HEADS = {"a": "first", "b": "second", "dataset": "data set"}


def _with_dataset(rows: Sequence[Row], *names: str) -> tuple[str, ...]:
    """*names*, and before them the data set where *rows* are of several."""
    return ("dataset", *names) if has_datasets(rows) else names


def _name_columns(names: Sequence[str]) -> list[Column]:
    return [Column(_HEADS.get(name, name), numeric=False) for name in names]


def _scores(results: Results) -> Iterator[Section]:
    tables = []
    for judge, cells in by_judge(main_cells(results)):
        line = judge_line(results, judge)
        if is_wide(cells):
            ranked = "with the oracle retriever" if "oracle" in settings_of(cells) else "in the best setting"
            tables.append(score_grid(cells, f"{line}. {_SCORES} Rows by joint score {ranked}. {_ASIDES}"))
        else:
            tables.append(score_list(cells, f"{line}. {_SCORES} {INTERVAL} Rows by joint score. {_ASIDES}"))
    if tables:
        paragraphs = [*clusters_told(results), *repeats_told(main_cells(results))]
        paragraphs += [told for told in [in_sample_told(results)] if told]
        yield Section("scores", "Coverage, citation and joint score", paragraphs, tables)


def _position(results: Results) -> Iterator[Section]:
    rows = results.get("position") or []
    told = order_independent(results)
    if not rows:
        yield from [Section("position", _POSITION, told, [])] if told else []
        return
    places = [
        place
        for place in ("top", "middle", "bottom", "given", "random")
        if any(row.get(place) is not None for row in rows)
    ]
    caption = (
        "Score from 0 to 100 by where the relevant documents stand in the prompt; higher is better. Sensitivity: "
        "largest distance of top and bottom from random order, or from the order given where none is random, in "
        f"points; lower is better. {BY_CHANCE}"
    )
    names = _with_dataset(rows, "summarizer", "system", "judge", "measure")
    columns = _name_columns(names)
    columns += [Column(name) for name in (*places, "sensitivity", "by chance", "p", "independent", "cut")]
    body = [
        [
            *_named(results, row, names),
            *(scored(row, place) for place in places),
            *sensitivity_cells(row),
            share_cut([row]),
        ]
        for row in beside_originals(rows, "system", "judge", "measure")
    ]
    yield Section("position", _POSITION, told, [Table(caption, columns, body)])


def _retrieval(results: Results) -> Iterator[Section]:
    rows = results.get("retrieval") or []
    if not rows:
        return
    plain = {"system", "retriever", "reranker", "dataset", "recall_at_budget", "cut_share", "budget_tokens"}
    plain |= {"intervals", "reasons", "in_sample"}
    cutoffs = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in plain]
    caption = (
        "Recall at budget: share of an insight's documents that reach the prompt, mean over insights. All measures "
        f"from 0 to 1, higher is better. {INTERVAL} Cut: share of the retrieved tokens that the limit took away."
    )
    names = _with_dataset(rows, "system")
    columns = [*_name_columns(names), Column("budget, tokens"), Column("recall at budget"), Column("cut")]
    columns += [Column(name) for name in cutoffs]
    body = [
        [
            *_named(results, row, names),
            Cell("no limit") if row.get("budget_tokens") is None else count(row["budget_tokens"]),
            scored(row, "recall_at_budget", digits=3),
            percent(row.get("cut_share"), reason=reason(row, "cut_share")),
            *(scored(row, name, digits=3) for name in cutoffs),
        ]
        for row in rows
    ]
    yield Section("retrieval", "Retrieval", [], [Table(caption, columns, body)])


def _citation(results: Results) -> Iterator[Section]:
    titles = {"precision": "precision", "recall": "recall", "citation": "F1 (citation)"}
    tables = []
    for judge, cells in by_judge(main_cells(results)):
        caption = (
            f"{judge_line(results, judge)}. Of the documents a bullet cites, the share that states the linked insight "
            "(precision); of those that state it, the share cited (recall); and their F1, each a mean over covered "
            "insights. From 0 to 100, higher is better."
        )
        if not is_wide(cells):
            table = score_list(cells, f"{caption} {INTERVAL}", tuple(titles))
            shown = [*range(5), 6]  # without length and unjudged share
            columns = [table.columns[place] for place in shown]
            tables.append(Table(table.caption, columns, [[row[place] for place in shown] for row in table.rows]))
            continue
        extremes = [setting for setting in ("oracle", "full") if setting in settings_of(cells)]
        settings = extremes or settings_of(cells)
        by_key = {(cell["summarizer"], cell["setting"]): cell for cell in cells}
        columns = [Column("summarizer", numeric=False)]
        heads = marked_settings(cells)
        columns += [Column(heads[setting], group=title) for title in titles.values() for setting in settings]
        columns.append(Column("cut"))
        body = [
            [
                summarizer_cell(next(cell for cell in cells if cell["summarizer"] == name)),
                *(scored(by_key.get((name, s)), m, with_interval=False) for m in titles for s in settings),
                share_cut([cell for cell in cells if cell["summarizer"] == name and cell["setting"] in settings]),
            ]
            for name in summarizers_by_joint(cells)
            if any((name, setting) in by_key for setting in settings)
        ]
        tables.append(Table(caption, columns, body))
    if tables:
        yield Section("citation", "Citation precision and recall", [], tables)


def _curve(results: Results) -> Iterator[Section]:
    rows = results.get("curve") or []
    if not rows:
        return
    measures = ("coverage", "citation", "precision", "recall", "joint")
    names = _with_dataset(rows, "summarizer", "setting", "judge")
    columns = _name_columns(names)
    columns += [Column(name) for name in ("minutes", "summaries", *measures, "cut")]
    ordered = sorted(rows, key=lambda row: (*(str(row.get(name)) for name in names), row["minutes"]))
    body = [
        [
            *_named(results, row, names),
            number(row["minutes"], digits=0),
            count(row.get("n_summaries"), reason=reason(row, "n_summaries")),
            *(scored(row, measure) for measure in measures),
            share_cut([row]),
        ]
        for row in beside_originals(ordered, "setting", "judge", "minutes")
    ]
    caption = "Scores from 0 to 100 of what was written after so many minutes; higher is better."
    yield Section("minutes", "Scores over minutes of writing", [], [Table(caption, columns, body)])


def _failure_modes(results: Results) -> Iterator[Section]:
    rows = results.get("failure_modes") or []
    if not rows:
        return
    caption = (
        "Bullets by what became of them, with their share. Linked: an insight was found in it. Header: introduces a "
        "list. Other subtopic: matches an insight of another query. Generic: names nothing specific. Unsupported: no "
        "document of the haystack has its words. All by rule, so indications only. More linked bullets are "
        "better, more of the others worse."
    )
    judged = ["judge"] if any("judge" in row for row in rows) else []
    names = _with_dataset(rows, "summarizer", "setting", *judged)
    columns = [*_name_columns(names), Column("bullets")]
    columns += [*(Column(mode.replace("_", " ")) for mode in _FAILURE_MODES), Column("cut")]
    body = [
        [
            *_named(results, row, names),
            count(row.get("n_bullets")),
            *(count(row.get(mode), of=row.get("n_bullets"), reason=reason(row, mode)) for mode in _FAILURE_MODES),
            share_cut([row]),
        ]
        for row in beside_originals(rows, "setting", "judge")
    ]
    yield Section("failures", "What bullets fail by", [], [Table(caption, columns, body)])


def _all_cells(results: Results) -> Iterator[Section]:
    parts = [(results.get("cells") or [], str(results["aggregate"]))]
    if results["aggregate"] != "per_summary":
        parts.append((results.get("per_summary_cells") or [], "per_summary"))
    tables = [
        _cell_table(results, cells, f"{_AGGREGATE[how].capitalize()}. {INTERVAL}") for cells, how in parts if cells
    ]
    if tables:
        yield Section("cells", "Every cell", [], tables)


def _cell_table(results: Results, cells: Sequence[Row], caption: str) -> Table:
    names = _with_dataset(cells, "summarizer", "setting", "judge")
    counts = ("n_summaries", "n_failed", "n_insights", "n_covered", "n_unjudged", "n_unlinked")
    measures = (*MEASURES, "precision", "recall")
    columns = _name_columns(names)
    columns += [Column(name) for name in measures]
    columns += [Column(name.removeprefix("n_")) for name in counts]
    columns += [Column("words a bullet"), Column("cut"), Column("unjudged share")]
    body = [
        [
            *_named(results, cell, names),
            *(scored(cell, measure) for measure in measures),
            *(count(cell.get(name), reason=reason(cell, name)) for name in counts),
            number(cell.get("words_per_bullet"), reason=reason(cell, "words_per_bullet")),
            percent(cell.get("cut_share"), reason=reason(cell, "cut_share")),
            percent(cell.get("unjudged_share"), reason=reason(cell, "unjudged_share")),
        ]
        for cell in best_first(cells)
    ]
    told = (
        "Scores from 0 to 100, higher is better. Failed: summaries that have no text. Covered: insights found, fully "
        "or in part. Unjudged: insights without a readable judgement. Unlinked: covered, but the judge named no "
        "bullet that exists."
    )
    return Table(f"{caption} {told}", columns, body)


def _judges(results: Results) -> Iterator[Section]:
    rows = results.get("judges") or []
    if rows:
        body = [[judge_cell(results, row["judge"]), Cell(card_words(row))] for row in rows]
        columns = [Column("judge", numeric=False), Column("card", numeric=False)]
        caption = "What each judge is worth: its agreement with people's labels."
        yield Section("judges", "Judges", [], [Table(caption, columns, body)])


def _provenance(results: Results) -> Section:
    run = dict(results.get("run") or {})
    work = list(work_tables(run))
    if run.get("limit", 0) is None:
        run["limit"] = "all queries"
    told = ("config", *TOLD_IN_TABLES) if work else ("config",)
    facts = [
        ("unreadable or missing judgements", _UNREADABLE),
        ("means", _known(results, "aggregate", _AGGREGATE)),
        *(flatten(results.get("benchmark") or {}, "benchmark")),
        *(flatten({name: part for name, part in run.items() if name not in told}, "run")),
    ]
    columns = [Column("what", numeric=False), Column("value", numeric=False)]
    table = Table(
        "What the numbers rest on.", columns, [[words(name), words(value, reason=_UNSET)] for name, value in facts]
    )
    config = run.get("config")
    listing = None if config is None else json.dumps(config, indent=2, ensure_ascii=False)
    return Section("made", "How the numbers were made", [], [table, *work], listing)


def _known(results: Results, field: str, meanings: Mapping[str, str]) -> str:
    if results[field] not in meanings:
        msg = f"results: field {field!r}: expected one of {sorted(meanings)}, found {results[field]!r}"
        raise LongformError(msg)
    return meanings[results[field]]


def flatten(value: Any, name: str) -> Iterator[tuple[str, str | None]]:
    """Leaves of nested objects as (the names on the way to it, text); a list is one leaf."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from flatten(part, f"{name} {key}")
    elif isinstance(value, list | tuple):
        plain = all(not isinstance(part, Mapping | list | tuple) for part in value)
        yield name, ", ".join(map(str, value)) if plain else json.dumps(value, ensure_ascii=False)
    else:
        yield name, None if value is None else str(value)
