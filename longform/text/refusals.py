"""
Tells refusals from statements: sentences that say of the sources, or of the writer, that there is no answer.

`The documents do not say when` and `I cannot answer this` state nothing of the world, so that no document can support
them and they say no insight. `The council did not say when` does; `the documents give no date, but it reopened in May`
does, too. The rules are for English, and prefer a refusal that is missed to a statement that is lost.
"""

from __future__ import annotations

import re

from longform.text.words import without_marks

_GIVEN = r"(?:provided|given|supplied|available|retrieved|attached|shared|included|above|listed|cited)"
_BEHIND = (
    rf"(?: (?:that (?:was|were|is|are) )?{_GIVEN}(?: here| to me)?| at hand| (?:that )?(?:you|i)(?: have|'ve| were| was)? "
    r"(?:gave|given|shared|provided|uploaded|supplied|received|have)(?: me)?)"
)
_ALWAYS = (
    r"(?:contexts?|documents?|sources|source (?:documents?|materials?|texts?)|passages?|excerpts?|text|articles|snippets?|"
    r"search results|transcripts?|materials|knowledge base)"
)
_IF_GIVEN = (
    r"(?:information|data|content|materials?|sources?|articles?|reports?|files?|texts|chapters?|stor(?:y|ies)|"
    r"references|logs|summar(?:y|ies)|conversations?|evidence|pages?|notes|records|results|chunks)"
)
_OF = r"(?:story |source |meeting |news |conversation |search |two |three )?"
_SOURCES = (
    rf"(?:(?:the|these|this|those|your|my|any of the|both|all) (?:{_GIVEN} {_OF}(?:{_ALWAYS}|{_IF_GIVEN})|{_OF}{_ALWAYS}{_BEHIND}?"
    rf"|{_OF}{_IF_GIVEN}{_BEHIND})|{_GIVEN} (?:{_ALWAYS}|{_IF_GIVEN})|context|any (?:of these|{_GIVEN}|document|source))"
)
_IN = rf"(?:in|from|by|within|across|with|using|on|through|of) (?:any of |all of )?{_SOURCES}(?! of\b)"
_WORDS = (
    r"(?:information|info|details?|mention|answers?|insights?|data|evidence|references?|explanations?|indications?|descriptions?|"
    r"discussions?|context|specifics|statements?|content|clues?|clarity)"
)
_MORE = r"(?:(?:any|enough|sufficient|adequate|specific|relevant|further|additional|explicit|direct|clear|such|the|requested|much|concrete) )*"
_NOT = r"(?:do(?:es)? not|do(?:es)?n't|did not|didn't|cannot|can not|can't|could not|fails? to|never)"
_HOW = r"(?:(?:explicitly|specifically|directly|clearly|actually|even|appear to|seem to|really|fully|further) )*"
_TELL = (
    r"(?:mention|say|state|specify|provide|contain|include|discuss|address|indicate|describe|give|reveal|explain|offer|cover|"
    r"disclose|detail|identify|show|name|allow|clarify|tell|answer|list|present|have|confirm|refer|elaborate|make|"
    r"touch|help|hold|shed|talk|feature|define|relate|fit)"
)
_TOLD = (
    r"(?:mentioned|stated|specified|provided|given|included|addressed|discussed|available|found|described|covered|disclosed|"
    r"detailed|listed|answered|explained|indicated|contained|shown|named|identified|present|clear|evident|known|possible|"
    r"supported|determined|inferred|verified|confirmed|established|concluded|ascertained|reported|explicit|appear)"
)
_UNABLE = (
    r"(?: ?(?:cannot|can not|can't|could not|couldn't|(?:am|'m|was) unable to|(?:am not|'m not|was not|wasn't) able to|"
    r"(?:won't|will not|would not) be able to))"
)
_ASKED = (
    r"(?:answer|determine|provide|help|assist|find|locate|tell|say|verify|confirm|summari[sz]e|identify|infer|comment|"
    r"access|browse|compute|give|offer|conclude|speak|be certain|be sure|see (?:any|the answer))"
)
_OPENING = (
    r"(?:\W|sorry|unfortunately|sadly|regrettably|however|i'm sorry|i am sorry|i'm afraid|i apologi[sz]e|apologies|but|and|"
    r"that|so|therefore|thus|also|additionally|note that|please note that|it seems that|overall|in summary|at this time)*"
)
_REFUSING = re.compile(
    "|".join(
        (
            rf"\b{_SOURCES} {_NOT} {_HOW}{_TELL}\b(?! (?:only|just|merely|simply)\b)",
            rf"\b{_SOURCES} (?:make|makes|contain|contains|provide|provides|offer|offers|give|gives|include|includes|have|has|"
            rf"provided|contained) (?:no|not enough|insufficient|little to no) {_MORE}{_WORDS}\b",
            rf"\b{_SOURCES} lacks? {_MORE}{_WORDS}\b",
            rf"\b{_SOURCES} (?:is|are|was|were) (?:silent|insufficient|unclear|(?:not|un)(?: directly)? ?related|irrelevant|not "
            r"(?:sufficient|enough|relevant|clear|about))\b",
            rf"\b(?:none|neither|nothing|no part|not one|nowhere) (?:of|in) {_SOURCES}",
            rf"^{_OPENING}(?:no|neither) (?:{_GIVEN} )?(?:document|source|passage|excerpt|article)s? "
            rf"{_HOW}(?:{_TELL}|specif|clarif|identif)(?:s|es|ies)?\b",
            rf"(?:\bnot|\bcannot|n't) (?:be )?{_HOW}{_TOLD}\b.*?\b{_IN}",
            rf"\b(?:unclear|unknown|impossible|(?:missing|absent)(?= from))\b.*?\b{_IN}",
            rf"\b(?:is|are|was|were)(?: not|n't) {_IN}",
            rf"\b(?:no|not enough|n't enough|insufficient|n't any|not any) {_MORE}{_WORDS}\b.*?\b{_IN}",
            rf"^{_OPENING}(?:there (?:is|are|was) )?(?:no|not enough|n't enough|insufficient) {_MORE}{_WORDS}"
            r"(?: (?:is|are|was|were|could be|can be))?(?: found| available| (?:provided )?to (?:answer|determine)\b.*)?\W*$",
            r"\bthere (?:is|are)(?: not|n't) enough (?:information|context|details?|data) to (?:answer|determine|say|tell)\b",
            r"\b(?:question|answer) (?:cannot|can't|could not) be (?:answered|determined|found|given)\b",
            rf"\b(?:is|was) not possible to (?:determine|answer|say|tell|conclude)\b.*?\b{_IN}",
            rf"\b{_IN},? (?:it (?:is|'s) (?:not (?:possible|feasible|clear)|impossible|unclear)|there (?:is|are) (?:no|not))\b",
            rf"^{_OPENING}{_IN}, [^,]*(?:\bnot|n't) {_HOW}{_TOLD}\W*$",
            rf"^{_OPENING}(?:{_IN},? )?i(?:{_UNABLE}| do not| don't) {_ASKED}\b",
            rf"^{_OPENING}(?:we|one|you){_UNABLE} {_ASKED}\b.*?\b{_IN}",
            rf"^{_OPENING}(?:{_IN},? )?i (?:do not|don't) (?:know\W*$|have (?:access|{_MORE}{_WORDS})\b)",
            rf"^{_OPENING}i have no (?:{_WORDS}|access|knowledge)\b",
            rf"^{_OPENING}(?:cannot|can't|unable to|not able to) (?:answer|determine)"
            rf"(?:\W*$| (?:this|the|your) (?:question|query)\b| (?:based|given)\b|.*?\b{_IN})",
            r"\bas an? (?:ai|(?:large )?language model|ai (?:language model|assistant))\b",
            r"\bmy (?:knowledge|training)(?: data)? (?:cutoff|cut-off|does|prevents)\b",
            rf"^{_OPENING}(?:please|could you|if you) (?:can |could )?(?:provide|share|upload|supply|give)(?: me)?(?: with)? (?:more|"
            r"additional|further|the) (?:context|information|documents?|details|texts?|sources)(?:\W*$|.*\b(?:i|me|question|query)\b)",
            r"^without (?:further|more|additional|access to)\b.*\bi (?:cannot|can't)\b",
            r"^\W*(?:n/?a|unknown|unanswerable|not (?:mentioned|stated|specified|provided|available|found|given|answerable|"
            r"enough information))\W*$",
        )
    )
)
_GOES_ON = re.compile(
    r"[,;—–-] ?(?:instead|yet|except|which|as|only|so that)\b|\b(?:but|while|though|although|whereas)\b|\binstead on\b"
)
_BEGINS = re.compile(
    rf"^(?!{_OPENING}\bbut\b)(?:.*\b(?:but|while|although|though|whereas)\b|.*, (?:whose|who|which)\b|"
    r"\W*(?:since|because|when|if(?! you))\b)"
)


def is_refusal(sentence: str) -> bool:
    """Return whether *sentence* says that its sources, or its writer, have no answer, and nothing else."""
    said = " ".join(without_marks(sentence).lower().replace("’", "'").split())
    found = _REFUSING.search(said)
    if found is None or _BEGINS.match(said[: found.start()] + " "):
        return False
    goes_on = _GOES_ON.search(said, found.end())
    return goes_on is None or _REFUSING.search(said, goes_on.end()) is not None
