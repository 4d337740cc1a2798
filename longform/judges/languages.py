"""Names the texts in languages that no judge of words was measured on; scores of these are no measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from longform.text.language import language, language_name


def unmeasured_languages(texts: Mapping[str, Iterable[str]], judges: Mapping[str, Collection[str]]) -> list[str]:
    """
    Return a sentence for each language of *texts* that a judge was not measured on.

    Args:
        texts: Name in the plural (`answers of rag`) -> its texts.
        judges: The languages that each was measured on, as `language` has them.
    """
    counts = {name: Counter(map(language, found)) for name, found in texts.items()} if judges else {}
    other = sorted({code for found in counts.values() for code in found if code is not None})
    return [_told(code, counts, unfit) for code in other if (unfit := _unmeasured(code, judges))]


def _unmeasured(code: str, judges: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
    return {name: measured for name, measured in judges.items() if code not in measured}


def _told(code: str, counts: Mapping[str, Counter[str | None]], judges: Mapping[str, Collection[str]]) -> str:
    written = [f"{found[code]:,} of {found.total():,} {name}" for name, found in counts.items() if found[code]]
    known = " and ".join(sorted({language_name(one) for of in judges.values() for one in of}))
    who = f"this judge ({next(iter(judges))}) was" if len(judges) == 1 else f"these judges ({', '.join(judges)}) were"
    return f"Written in {language_name(code)}: {'; '.join(written)}: {who} measured on {known} only."
