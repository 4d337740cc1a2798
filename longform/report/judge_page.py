"""
The page of a meta-evaluation: several judges of one task, held against people's labels.

It has the look, the policy and the Markdown of the report of a run.
"""

from __future__ import annotations

from typing import TypedDict

from longform.judges.support_meta import SupportMeta
from longform.judges.target_meta import TargetMeta
from longform.report.judge_parts import FailedJudge, failed_sections, made_sections
from longform.report.page import sections_html, sections_markdown
from longform.report.parts import Section, as_shown
from longform.report.plots import Captioned
from longform.report.support_judges import support_sections
from longform.report.target_judges import target_figures, target_sections


class JudgePage(TypedDict):
    """
    The content of the page.

    Attributes:
        title: Of the page.
        facts: What the numbers rest on, by name.
        failed: Judges that are missing.
        of_targets: The findings, if the judges are of targets.
        of_support: The findings, if they are of support.
    """

    title: str
    facts: dict[str, str]
    failed: list[FailedJudge]
    of_targets: TargetMeta | None
    of_support: SupportMeta | None


def judge_markdown(page: JudgePage) -> str:
    """Return the page as GitHub-flavoured Markdown, without its figures."""
    return sections_markdown(page["title"], _sections(page))


def judge_html(page: JudgePage) -> str:
    """Return the page as HTML that loads nothing."""
    return sections_html(page["title"], [(section, _figures(page, section.anchor)) for section in _sections(page)])


def _sections(page: JudgePage) -> list[Section]:
    found = list(failed_sections(page["failed"]))
    if page["of_targets"]:
        found += target_sections(page["of_targets"])
    if page["of_support"]:
        found += support_sections(page["of_support"])
    found += made_sections(page["facts"])
    return [section._replace(tables=[as_shown(table) for table in section.tables]) for section in found]


def _figures(page: JudgePage, anchor: str) -> list[Captioned]:
    return target_figures(anchor, page["of_targets"]) if page["of_targets"] else []
