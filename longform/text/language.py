"""
The language that a text is written in, as ISO 639-1 has it.

Judges that read words were measured on texts of some languages, and what they say of others is no measure. So a wrong
name does more harm than none: a text with few words, a table of names, or code has none.
"""

from __future__ import annotations

import re
from functools import lru_cache

from py3langid import langid

ENGLISH = "en"
UNKNOWN_SCRIPT = "und"
"""A language that cannot be named, in a script that English is not written in (ISO 639-2's code for it)."""

_NAMES = dict(
    pair.split(":")
    for pair in """
    af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali ca:Catalan
    cs:Czech cy:Welsh da:Danish de:German el:Greek en:English es:Spanish et:Estonian eu:Basque fa:Persian
    fi:Finnish fr:French ga:Irish gu:Gujarati ha:Hausa he:Hebrew hi:Hindi hr:Croatian hu:Hungarian
    hy:Armenian id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean
    lo:Lao lt:Lithuanian lv:Latvian mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi my:Burmese ne:Nepali
    nl:Dutch no:Norwegian pa:Punjabi pl:Polish pt:Portuguese ro:Romanian ru:Russian si:Sinhala sk:Slovak sl:Slovenian
    so:Somali sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian
    ur:Urdu uz:Uzbek vi:Vietnamese yo:Yoruba zh:Chinese zu:Zulu
    """.split()
)
_READ = 4000  # characters of a text: a language shows in its first paragraphs
_FEWEST = 4  # words in small letters; names and abbreviations are of no language
_SURE = 0.6
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_KANA, _HANGUL, _HAN = (
    re.compile(f"[{of}]") for of in ("\u3041-\u30fa", "\u1100-\u11ff\uac00-\ud7a3", "\u3400-\u9fff")
)
_ENGLISH_WORDS = frozenset("the and that which with from this were their".split())
_ENGLISH_SHARE = 0.05  # of words; those of other languages are below


def language(text: str) -> str | None:
    """Return the code of the language of *text*; None if it is too short, or of no language that can be told."""
    read = text[:_READ]
    words = _WORD.findall(read)
    other = len(_OTHER_SCRIPT.findall(read))
    if other and other >= sum(map(len, words)) / (5 if _HAN.search(read) or _KANA.search(read) else 2):
        return _of_other_script(" ".join(word for word in words if _OTHER_SCRIPT.match(word)))
    small = [word for word in words if word.islower()]
    if len(small) < _FEWEST:
        return None
    if sum(word in _ENGLISH_WORDS for word in small) >= _ENGLISH_SHARE * len(small):
        return ENGLISH
    code, probability = _identifier().classify(" ".join(small))
    return code if probability >= _SURE else None


def language_name(code: str) -> str:
    """Return the English name of a language that `language` names."""
    return _NAMES.get(code, "a language in another script")


def _of_other_script(text: str) -> str:
    """Name a language by its script if that is enough; Chinese has no kana."""
    for script, code in ((_KANA, "ja"), (_HANGUL, "ko"), (_HAN, "zh")):
        if len(script.findall(text)) >= len(text) / 10:
            return code
    code, _ = _identifier().classify(text)
    return UNKNOWN_SCRIPT if code in (ENGLISH, "zh", "ja", "ko") else str(code)


@lru_cache(maxsize=1)
def _identifier() -> langid.LanguageIdentifier:
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(_NAMES))
    return identifier
