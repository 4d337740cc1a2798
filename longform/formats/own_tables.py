"""Documents as rows of a table: CSV and TSV files, an id, a title and a text a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from longform.formats.faults import Faults, numbered
from longform.formats.fields import Record
from longform.formats.files import Found, Named, SourceFile
from longform.formats.folder import own_haystack
from longform.formats.table_rows import DOC_ID_NAMES, TEXT_NAMES, TITLE_NAMES, Columns, records
from longform.formats.texts import FileText


def csv_files(
    named: Named,
    *,
    queries: Sequence[SourceFile],
    insights: Sequence[SourceFile] = (),
    text_column: str = "",
    id_column: str = "",
    title_column: str = "",
    skip_unreadable: bool = False,
) -> Found:
    """
    Return the documents of the CSV files that are named as one haystack.

    Raises:
        UsageError: There is no question or no row.
        InputError: A row has no text, or an id stands twice.
    """
    files = [file for found in named.values() for file in found.values()]
    columns = document_columns({"text": text_column, "id": id_column, "title": title_column})
    faults = Faults(skip=skip_unreadable)
    texts = texts_of((record for file in files for record in records(file, faults)), columns, faults)
    haystack = own_haystack(texts, queries, insights, faults)
    return Found([*files, *queries, *insights], [haystack])


def document_columns(named: Mapping[str, str]) -> Columns:
    """Return the columns of documents: those that are named, else the usual ones."""
    return Columns(named, {"text": TEXT_NAMES, "id": DOC_ID_NAMES, "title": TITLE_NAMES})


def texts_of(rows: Iterable[Record], columns: Columns, faults: Faults) -> Mapping[str, FileText]:
    """
    Return the documents of rows by their ids; rows without an id are numbered from 1.

    A row that has no text, or an id that stands above, is a fault.
    """
    found: dict[str, FileText] = {}
    for number, record in numbered(rows, faults):
        with faults.caught():
            doc_id = columns.id(record, str(number))
            if doc_id in found:
                raise record.error(
                    "id", expected="an id that no row above has; name its column by --id-column", found=doc_id
                )
            found[doc_id] = FileText(columns.known(record, "title") or None, columns.text(record, "text"))
    return found
