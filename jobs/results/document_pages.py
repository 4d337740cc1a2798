"""Write the pages with the documents of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from actors.storage.folder import Folder
from longform.report.document_pages import DocumentFiles, document_pages, documents_html
from longform.report.site import Site, numbered
from longform.results.passages import DocumentFacts


def write_documents(
    folder: Folder, site: Site, documents: Iterable[DocumentFacts], name: Callable[[str], str]
) -> DocumentFiles:
    """
    Write the pages of documents; return which page holds which. Two pages are in memory at a time.

    Args:
        folder: Where to.
        site: That lists `document_pages.LINK`.
        documents: Those of a haystack together, by their numbers.
        name: Of a haystack, for readers.
    """
    found: dict[str, list[tuple[str, int, int]]] = {}
    for place, page in numbered("documents", document_pages(documents, name)):
        folder.write_bytes(place.file, documents_html(site, page, place).encode())
        for haystack, (first, last) in page.held.items():
            found.setdefault(haystack, []).append((place.file, first, last))
    return DocumentFiles(found)
