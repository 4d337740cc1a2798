"""Write the pages with the documents of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, pairwise

from actors.storage.folder import Folder
from longform.report.document_pages import Files, document_pages, documents_file, documents_html
from longform.report.site import Site
from longform.results.passages import DocumentFacts


def write_documents(
    folder: Folder, site: Site, documents: Iterable[DocumentFacts], name: Callable[[str], str]
) -> Files:
    """
    Write the pages of the documents; return which page holds which; two pages are in memory at a time.

    Args:
        folder: Where to.
        site: That lists `document_pages.LINK`.
        documents: Those of a haystack together, by their numbers.
        name: Of a haystack, for readers.
    """
    found: dict[str, list[tuple[str, int, int]]] = {}
    pages = chain(document_pages(documents, name), [None])
    for number, (page, after) in enumerate(pairwise(pages), start=1):
        assert page is not None, "the end stands behind the last page"
        file = documents_file(number)
        html = documents_html(
            site,
            page,
            number=number,
            before=documents_file(number - 1) if number > 1 else None,
            after=documents_file(number + 1) if after else None,
        )
        folder.write_bytes(file, html.encode())
        for haystack, (first, last) in page.held.items():
            found.setdefault(haystack, []).append((file, first, last))
    return found
