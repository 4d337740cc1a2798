"""
Tells refusals from statements: sentences that say of the sources, or of the writer, that there is no answer.

`The documents do not say when` and `I cannot answer this` state nothing of the world, so that no document can support
them and they say no insight. `The council did not say when` does; `the documents give no date, but it reopened in May`
does, too. The rules are for English, with some for eleven other languages in `refusals.txt`, and
prefer a refusal that is missed to a statement that is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

from longform.text.citations import Bullet
from longform.text.words import without_marks


def _joined(pattern: str) -> str:
    """Return a pattern without its line breaks, each with the space behind it."""
    return re.sub(r"\n *", "", pattern)


_GIVEN = "(?:provided|given|supplied|available|retrieved|attached|shared|included|above|listed|cited)"
_GIVEN_BEHIND = _joined(rf"""(?:
    (?: that (?:was|were|is|are))? {_GIVEN}(?: here| to me)?| at hand|
    (?: that)? (?:you|i)(?: have|'ve| were| was)? (?:gave|given|shared|provided|uploaded|supplied|received|have)
    (?: me)?)""")
_SOURCE = _joined(r"""(?:
    contexts?|documents?|sources|source (?:documents?|materials?|texts?)|passages?|excerpts?|text|articles|snippets?|
    search results|transcripts?|materials|knowledge base)""")
_SOURCE_IF_GIVEN = _joined(r"""(?:
    information|data|content|materials?|sources?|articles?|reports?|files?|texts|chapters?|stor(?:y|ies)|references|logs|
    summar(?:y|ies)|conversations?|evidence|pages?|notes|records|results|chunks)""")
_OF = "(?:story |source |meeting |news |conversation |search |two |three )?"
_SOURCES = _joined(rf"""(?:
    (?:the|these|this|those|your|my|any of the|both|all) (?:
    {_GIVEN} {_OF}(?:{_SOURCE}|{_SOURCE_IF_GIVEN})|
    {_OF}{_SOURCE}{_GIVEN_BEHIND}?|{_OF}{_SOURCE_IF_GIVEN}{_GIVEN_BEHIND})|
    {_GIVEN} (?:{_SOURCE}|{_SOURCE_IF_GIVEN})|context|any (?:of these|{_GIVEN}|document|source))""")
_IN = rf"\b(?:in|from|by|within|across|with|using|on|through|of) (?:any of |all of )?{_SOURCES}(?! of\b)"
_NOT = r"(?:do(?:es)? not|do(?:es)?n't|did not|didn't|cannot|can not|can't|could not|fails? to|never)"
_HOW = "(?:(?:explicitly|specifically|directly|clearly|actually|even|appear to|seem to|really|fully|further) )*"
_TELL = _joined(r"""(?:
    mention|say|state|specify|provide|contain|include|discuss|address|indicate|describe|give|reveal|explain|offer|cover|
    disclose|detail|identify|show|name|allow|clarify|tell|answer|list|present|have|confirm|refer|elaborate|make|touch|help|
    hold|shed|talk|feature|define|relate|fit)""")
_TOLD = _joined(r"""(?:
    mentioned|stated|specified|provided|given|included|addressed|discussed|available|found|described|covered|disclosed|
    detailed|listed|answered|explained|indicated|contained|shown|named|identified|present|clear|evident|known|possible|
    supported|determined|inferred|verified|confirmed|established|concluded|ascertained|reported|explicit|appear)""")
_MORE = _joined(r"""(?:(?:
    any|enough|sufficient|adequate|specific|relevant|further|additional|explicit|direct|clear|such|the|requested|much|
    concrete|required|necessary|needed) )*""")
_INFORMATION = _joined(r"""(?:
    information|info|details?|mention|answers?|insights?|data|evidence|references?|explanations?|indications?|
    descriptions?|discussions?|context|specifics|statements?|content|clues?|clarity)\b""")
_NO = "(?:no|not enough|n't enough|insufficient|n't any|not any|little to no)"
_UNABLE = _joined(r"""(?: ?(?:
    cannot|can not|can't|could not|couldn't|(?:am|'m|was) unable to|(?:am not|'m not|was not|wasn't) able to|
    (?:won't|will not|would not) be able to))""")
_ANSWER = _joined(r"""(?:
    answer|determine|provide|help|assist|find|locate|tell|say|verify|confirm|summari[sz]e|identify|infer|comment|access|
    browse|compute|give|offer|conclude|speak|be certain|be sure|see (?:any|the answer)|respond to (?:this|that|your)|
    (?:fulfil+|comply with) (?:this|that|your|the)|complete (?:this|that|your) (?:request|task))\b""")
_OPENING = _joined(r"""(?:
    \W|sorry|unfortunately|sadly|regrettably|however|i'm sorry|i am sorry|i'm afraid|i apologi[sz]e|apologies|but|and|
    that|so|therefore|thus|also|additionally|note that|please note that|it seems that|overall|in summary|
    at this time|my apologies|error)*""")
_SUBJECT = _joined(r"""(?:it|this|that|(?:this|that|the|these|those|such|no)
    (?: (?:requested|required|necessary|relevant))? (?:answer|information|details?|data|specifics))""")
_RULES = rf"""
\b{_SOURCES} {_NOT} {_HOW}{_TELL}\b(?! (?:only|just|merely|simply)\b)
\b{_SOURCES} (?:make|contain|provide|offer|give|include|ha(?:ve|s)|provided|contained)s? {_NO} {_MORE}{_INFORMATION}
\b{_SOURCES} lacks? {_MORE}{_INFORMATION}
\b{_SOURCES} (?:is|are|was|were) (?:silent|insufficient|unclear|(?:not|un)(?: directly)? ?related|irrelevant|
    not (?:sufficient|enough|relevant|clear|about))\b
\b(?:none|neither|nothing|no part|not one|nowhere) (?:of|in) {_SOURCES}
^{_OPENING}(?:no|neither) (?:{_GIVEN} )?(?:document|source|passage|excerpt|article)s?
     {_HOW}(?:{_TELL}|specif|clarif|identif)(?:s|es|ies)?\b
(?:\bnot|\bcannot|n't) (?:be )?{_HOW}{_TOLD}\b.*?{_IN}
\b(?:unclear|unknown|impossible|(?:missing|absent)(?= from))\b.*?{_IN}
\b(?:is|are|was|were)(?: not|n't) {_IN}
(?:\b|(?=n't)){_NO} {_MORE}{_INFORMATION}.*?{_IN}
^{_OPENING}(?:there (?:is|are|was) ?)?{_NO} {_MORE}{_INFORMATION}(?: (?:is|are|was|were|could be|can be))?
    (?: found| available| (?:provided )?to (?:answer|determine)\b.*)?\W*$
\bthere (?:is|are)(?: not|n't) enough (?:information|context|details?|data) to (?:answer|determine|say|tell)\b
\b(?:question|answer) (?:cannot|can't|could not) be (?:answered|determined|found|given)\b
\b(?:is|was) not possible to (?:determine|answer|say|tell|conclude)\b.*?{_IN}
{_IN},? (?:it (?:is|'s) (?:not (?:possible|feasible|clear)|impossible|unclear)|there (?:is|are) (?:no|not))\b
^{_OPENING}{_IN}, [^,]*(?:\bnot|n't) {_HOW}{_TOLD}\W*$
^{_OPENING}(?:{_IN},? )?i(?:{_UNABLE}| do not| don't) {_ANSWER}
^{_OPENING}(?:we|one|you){_UNABLE} {_ANSWER}.*?{_IN}
^{_OPENING}(?:{_IN},? )?i (?:do not|don't) (?:know(?: the answer)?\W*$|have (?:access|{_MORE}{_INFORMATION})\b)
^{_OPENING}i (?:won't|will not|must not) (?:answer|respond|help|assist|comply)\b[^,]*$
^{_OPENING}(?:could not|couldn't) (?:generate|find|provide) an? (?:answer|response)\W*$
^{_OPENING}i have no (?:{_INFORMATION}|access|knowledge)\b
^{_OPENING}(?:cannot|can't|unable to|not able to) (?:answer|determine)
    (?:\W*$| (?:this|the|your) (?:question|query)\b| (?:based|given)\b|.*?{_IN})
\bas an? (?:ai|(?:large )?language model|ai (?:language model|assistant))\b
\bmy (?:knowledge|training)(?: data)? (?:cutoff|cut-off|does|prevents)\b
^{_OPENING}(?:please|could you|if you) (?:please |can |could )?(?:provide|share|upload|supply|give)(?: me)?
    (?: with)?
     (?:more|additional|further|the) (?:context|information|documents?|details|texts?|sources)
    (?:\W*$|.*\b(?:i|me|question|query)\b)
^without (?:further|more|additional|access to)\b.*\bi (?:cannot|can't)\b
^\W*(?:n/?a|unknown|unanswerable|no answer|
    not (?:mentioned|stated|specified|provided|available|found|given|answerable|enough information))\W*$
"""
"""A rule a line, of words in small letters; a line that is indented by four spaces goes on."""
_UNCITED = rf"""
none
{_OPENING}i(?: am|'m) not (?:quite |entirely )?(?:sure|certain)(?: about (?:this|that|the answer))?
{_OPENING}i (?:must |have to |will )?(?:refuse|decline)(?: to (?:answer|respond|comply|help|assist)
    (?: (?:this|that|the|your) \w+)?)?
{_OPENING}{_SUBJECT} (?:is|are|was|were)(?: not|n't) {_HOW}{_TOLD}(?: here)?
{_OPENING}the answer (?:is|remains) (?:unknown|unclear|uncertain)
{_OPENING}(?:the|its|their) [^\W\d_]+(?: of (?:the |this )?[^\W\d_]+)? (?:is|are)(?: not|n't) {_HOW}
    (?:mentioned|specified|stated)
{_OPENING}information (?:about|on|regarding) [^,;:]{{1,60}} (?:is|was)
    (?: not|n't) (?:provided|available|given|included|found)
{_OPENING}no (?:relevant |matching |search )?(?:results?|matches|answers?|documents?|sources|passages)
    (?: (?:was|were|is|are|could be))? (?:found|retrieved|returned|available)
{_OPENING}i can only answer questions about the (?:{_GIVEN} )?{_SOURCE}
{_OPENING}(?:the|this|your) question is (?:outside|beyond) the scope of (?:the|these) (?:{_GIVEN} )?{_SOURCE}
"""
"""Sentences that refuse if they are no longer and cite nothing: `The cost is not stated` is said of a contract else."""

_TURN_ELSEWHERE = re.compile(
    r"[;:]|\b(?:aber|doch|sondern|jedoch|mais|pero|sino|mas|porém|ma|maar|ale|lecz|но|а)\b|但|ただし|しかし|지만 "
)

_HINT = re.compile(
    _joined(r"""\b(?:cannot|can't|could not|couldn't|unable|not able|wasn't able|don't know|do not know|have no|n/a|
    unknown|unanswerable|cut-?off|an? ai|language model|please|could you|if you)\b|
    \b(?:no|not|none|neither|nothing|nowhere|never|un(?:clear|related)|missing|absent|silent|insufficient|irrelevant|
    impossible|lacks?|fails?|refuse|decline|beyond|outside|only|won't)\b|n't\b""")
)
"""Every refusal has one of these; most sentences have none."""


def _alternatives(rules: str) -> str:
    return re.sub(r"\n {4}", "", rules).strip().replace("\n", "|")


_REFUSING, _REFUSING_UNCITED = map(_alternatives, (_RULES, _UNCITED))
"""Kept by `re` once compiled: that takes a seventh of a second, which commands that meet no refusal do without."""
_TURN = r"\b(?:but|while|though|although|whereas)\b"
_GOES_ON = re.compile(rf"[,—–-] ?(?:instead|yet|except|which|as|only|so that)\b|[:;]\s|{_TURN}|\binstead on\b")
_SAYS_FIRST = re.compile(
    rf"(?!{_OPENING}\bbut\b)(?:.*{_TURN}|.*, (?:whose|who|which)\b|\W*(?:since|because|when|if(?! you))\b)"
)
_CITED = re.compile(r"\[[^\[\]]*\d")
_LONGEST = 1000  # characters of a sentence that is read


@lru_cache(maxsize=1)
def _elsewhere() -> re.Pattern[str]:
    """Return the rules of other languages than English."""
    rules = files("longform").joinpath("text/refusals.txt").read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(rule for rule in rules if not rule.startswith("#")))


@lru_cache(maxsize=10_000)  # of an answer, as it is split and as it is counted
def is_refusal(sentence: str) -> bool:
    """Return whether *sentence* says that its sources, or its writer, have no answer, and nothing else."""
    said = " ".join(without_marks(sentence).lower().replace("’", "'").replace("_", " ").split())
    if len(sentence) > _LONGEST:
        return False
    if _elsewhere().match(said) and not _TURN_ELSEWHERE.search(said):
        return True
    if _HINT.search(said) is None:
        return False
    if not _CITED.search(sentence) and re.fullmatch(_REFUSING_UNCITED, said.strip("[]().! ")):
        return True
    found = re.search(_REFUSING, said)
    if found is None or _SAYS_FIRST.match(said[: found.start()]):
        return False
    goes_on = _GOES_ON.search(said, found.end())
    return goes_on is None or re.compile(_REFUSING).search(said, goes_on.end()) is not None


def without_refusals(units: Iterable[Bullet]) -> list[Bullet]:
    """Return the units that state something."""
    return [unit for unit in units if not is_refusal(unit.text)]
