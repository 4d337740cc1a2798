"""
Hooks of MkDocs for the site of the pages (mkdocs.yml names this file).

Pages are written for readers of the repository: they link to files beside `docs/`, to folders, and say behind a fence's
language how its commands are tested. Here README, CONTRIBUTING and CHANGELOG become pages, folders get an index, other
files of the repository are copied as text, and fences lose what only tests read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
TAKEN = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the root -> their pages."""
FOLDERS = {
    "decisions": (
        "Decisions",
        "Choices of weight, each with its question, its reason, and the choices that were refused.",
    ),
    "kubernetes": ("Kubernetes", "Files for KubeRay; [operations](../operations.md) says how to use them."),
    "samples": ("Samples", "Documents of a benchmark that the grammar writes ([made benchmarks](../synthesis.md))."),
}
"""Folder of docs -> the title of its index, and a sentence."""
FENCES = {"released": "needs released files", "key": "needs a key", "cloud": "needs a cluster", "long": "takes hours"}
"""Kind of a fence's commands -> the title of the block."""

_FENCE = re.compile(r"^```(\w+) ([^\n]+)$", re.MULTILINE)
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!#|[a-z]+:)([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and files of the site that do not stand in `docs/`."""
    for name, page in TAKEN.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    for folder in FOLDERS:
        files.append(File.generated(config, f"{folder}/index.md", content=_index_of(folder)))
    for path in sorted(_linked_sources()):
        files.append(File.generated(config, _as_source(path), content=(ROOT / path).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of the repository into links of the site, and say in words what stands behind a fence."""
    source = next((root for root, name in TAKEN.items() if name == page.file.src_uri), f"docs/{page.file.src_uri}")
    parts = _CODE.split(markdown)
    parts[::2] = [_LINK.sub(lambda found: _link(found, source, page.file.src_uri), prose) for prose in parts[::2]]
    return _FENCE.sub(_titled, "".join(parts))


def on_post_build(config: Any) -> None:
    """Write the index of the search as a script, which a page from disk may load."""
    index = Path(config.site_dir) / "search/search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text()}")


def _titled(found: re.Match[str]) -> str:
    language, kind = found.groups()
    title = FENCES.get(kind, kind if "." in kind else "")
    return f'```{language} title="{title}"' if title else f"```{language}"


def _index_of(folder: str) -> str:
    title, about = FOLDERS[folder]
    names = sorted(
        path.name for path in (ROOT / "docs" / folder).iterdir() if path.is_file() and path.name != "index.md"
    )
    lines = [f"- [{_title(ROOT / 'docs' / folder / name)}]({name})" for name in names]
    return "\n".join([f"# {title}", "", about, "", *lines, ""])


def _title(path: Path) -> str:
    return path.read_text().partition("\n")[0].removeprefix("# ") if path.suffix == ".md" else path.name


def _link(found: re.Match[str], source: str, page: str) -> str:
    """Return the link as it leads from *page* of the site; *source* is the page's file in the repository."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[1])) if found[1] else source
    place = posixpath.relpath(_place(target), posixpath.dirname(page) or ".")
    return f"]({place}{found[2] or ''})"


def _place(target: str) -> str:
    """Return the place in the site of a file or folder of the repository."""
    if target in TAKEN:
        return TAKEN[target]
    inside = target.removeprefix("docs/")
    if inside != target:
        return f"{inside}/index.md" if inside in FOLDERS else inside
    return _as_source(target)


def _as_source(path: str) -> str:
    return f"source/{path}.txt"


def _linked_sources() -> Iterator[str]:
    """Yield the files of the repository outside of `docs/` that a page links to."""
    found = set()
    for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in TAKEN)]:
        folder = page.parent.relative_to(ROOT).as_posix()
        for link in _LINK.finditer(_CODE.sub("", page.read_text())):
            target = posixpath.normpath(posixpath.join(folder, link[1]))
            if (ROOT / target).is_file() and target not in TAKEN and not target.startswith("docs/"):
                found.add(target)
    yield from found
