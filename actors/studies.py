"""The studies that a configuration lists: those that ship by name, and those of users by import path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from actors.python_class import check_class, open_class, user_code
from longform.errors import UsageError, meant
from longform.measures import SHIPPED as MEASURES
from longform.results.evidence import Evidence
from longform.settings.python_class import PythonClassSettings
from longform.studies.study import RESERVED, TABLES, RunStudy, Study, named_studies, tables_in
from longform.tables.table import Table, Value, checked, table_of

Listed = Sequence[str | PythonClassSettings]
_MEASURES = frozenset(measure.name for measure in MEASURES)


def check_studies(listed: Listed | None) -> None:
    """
    Make sure that all studies can be had.

    Raises:
        UsageError: A name is unknown or taken, or a class cannot be loaded.
    """
    for one in listed or ():
        if not isinstance(one, str):
            check_class(one, RunStudy)
    open_studies(listed)


def open_studies(listed: Listed | None) -> list[Study]:
    """
    Return the studies in the order listed; None: all that ship.

    Raises:
        UsageError: A name is unknown or taken, or a class cannot be loaded.
    """
    if listed is None:
        return named_studies(None)
    found = [named_studies([one])[0] if isinstance(one, str) else _opened(one) for one in listed]
    names = [study.name for study in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"studies: expected different names, found {', '.join(twice)} more than once")
    return found


def _opened(settings: PythonClassSettings) -> Study:
    made = open_class(settings, RunStudy)
    name = getattr(made, "name", None)
    if not isinstance(name, str) or not name:
        raise UsageError(f"{settings.class_}: expected a class attribute `name`, a text; found {name!r}")
    if name in RESERVED:
        raise UsageError(f"studies: {name} is a name that results have already; give yours another")
    needs = _known(settings, "needs", getattr(made, "needs", ()), TABLES)
    measures = _known(settings, "measures", getattr(made, "measures", ()), _MEASURES)

    def result(evidence: Evidence) -> Sequence[Table] | None:
        with user_code(settings, "result"):
            found = made.result(evidence)
            if found is None:
                return None
            if isinstance(found, str) or not isinstance(found, Iterable):
                raise TypeError(f"expected a Table, a list of Tables, or rows that are mappings, found {found!r}")
            tables = tables_in(found) or [table_of(name, [_row(place, row) for place, row in enumerate(found)])]
            return [checked(_headed(made, name, place, table)) for place, table in enumerate(tables)]

    return Study(name, needs, result, measures, of_user=True)


def _headed(made: RunStudy, name: str, place: int, table: Table) -> Table:
    """Return a table under the name of its study; the first has its head if it states none."""
    for word in ("title", "told", "section", "page"):
        if not isinstance(text := getattr(table, word), str):
            raise TypeError(f"table {table.name}: expected a text as {word}, found {text!r}; name the arguments")
    if place:
        return table if table.name.startswith(f"{name}_") else table._replace(name=f"{name}_{table.name}")
    title, told = str(getattr(made, "title", name)), str(getattr(made, "told", ""))
    return table._replace(name=name, title=table.title or title, told=table.told or told)


def _known(
    settings: PythonClassSettings, attribute: str, names: Sequence[str], known: frozenset[str]
) -> tuple[str, ...]:
    if unknown := sorted(set(names) - known):
        found = f"{', '.join(unknown)}{meant(unknown[0], known)}"
        raise UsageError(f"{settings.class_}: {attribute}: expected some of {', '.join(sorted(known))}, found {found}")
    return tuple(names)


def _row(place: int, row: object) -> Mapping[str, Value]:
    if not isinstance(row, Mapping):
        frame = "" if isinstance(row, str | int | float | list | tuple) else "; a frame has rows as `to_dicts()`"
        raise TypeError(f"row {place}: expected a mapping of columns to values, found {row!r:.120}{frame}")
    return {str(name): value for name, value in row.items()}
