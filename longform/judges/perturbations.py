"""
Damage to a summary that a judge of coverage must see: its bullets changed in named ways, by seed.

`negate`, `number`, `shuffle`, `delete` and `echo` take away what a bullet says; `merge`, `prose` and `pad` keep it and
add nothing to it, so that no score may rise. Citations and list markers stay where they are, so that links can be
followed.

The negations are grammar of their own: they find a finite verb and negate it, or wrap the statement. What they share
with the offline judge's list of cues is English itself (`not`, `never`, `no longer`, `denied`, `untrue`); the wrapping
`myth` uses a word that the list does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from longform.keys import stable_seed
from longform.metrics.statistics import Estimate, pooled_mean
from longform.text.answers import statements
from longform.text.citations import without_citations

_MARKED = re.compile(r"^(\s*(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)?)(.*?)((?:\s*\[[\d, ]+\])*\s*\.?\s*)$", re.DOTALL)
_DELETED_SHARE = 0.3

# ---------------------------------------------------------------- negation

_AUXILIARY = "is|are|was|were|has|have|had|will|would|can|could|should|must|may|might|does|do|did"
_CONTRACTED = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "has": "hasn't", "have": "haven't",
    "had": "hadn't", "will": "won't", "would": "wouldn't", "can": "can't", "could": "couldn't", "should": "shouldn't",
    "must": "mustn't", "does": "doesn't", "do": "don't", "did": "didn't",
}  # fmt: skip
_IRREGULAR = {
    "rose": "rise", "fell": "fall", "grew": "grow", "saw": "see", "made": "make", "took": "take", "began": "begin",
    "held": "hold", "led": "lead", "met": "meet", "said": "say", "sold": "sell", "told": "tell", "won": "win",
    "lost": "lose", "left": "leave", "brought": "bring", "built": "build", "chose": "choose", "found": "find",
    "gave": "give", "got": "get", "kept": "keep", "paid": "pay", "spent": "spend", "stood": "stand", "went": "go",
    "came": "come", "became": "become", "beat": "beat",
}  # fmt: skip
_OBJECT = r"(?:an?|the|its?|their|his|her|that|to|by|in|from|\$?\d|[a-z]+ly )"
_VERB = re.compile(
    rf"\b(?P<auxiliary>{_AUXILIARY})\b(?! not\b)"
    rf"|(?<=[a-z] )(?P<past>[a-z]{{3,}}ed|{'|'.join(_IRREGULAR)})(?= {_OBJECT})"
    r"|(?<=[a-z] )(?P<present>[a-z]{3,}s)(?= (?:an?|the|its|their|his|her|that|to) )"
)
_MAIN_CLAUSE_CHARS = 120
"""A first verb later than this is one of a side clause; its negation would leave the statement standing."""


def main_verb(body: str) -> re.Match[str] | None:
    """Find the finite verb of the main clause, as far as endings and auxiliaries tell; return None if there is none."""
    return _VERB.search(body, 0, _MAIN_CLAUSE_CHARS)


def _at_verb(body: str, auxiliary: Callable[[str], str], past: str, present: str) -> str | None:
    verb = main_verb(body)
    if verb is None:
        return None
    if verb["auxiliary"]:
        changed = auxiliary(verb["auxiliary"])
    else:
        changed = f"{past} {_base(verb['past'])}" if verb["past"] else f"{present} {_base(verb['present'])}"
    return body[: verb.start()] + changed + body[verb.end() :]


def _base(verb: str) -> str:
    """A verb's plain form, good enough to be read: `reported` is report, `plans` is plan."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith(("ied", "ies")):
        return verb[:-3] + "y"
    if verb.endswith("s"):
        return verb[:-2] if verb.endswith(("sses", "shes", "ches")) else verb[:-1]
    root = verb[:-2]
    if root[-1] == root[-2] and root[-1] not in "ls":
        return root[:-1]
    return root + "e" if root.endswith(("c", "s", "v", "z", "u", "at", "iz", "ag", "eng", "ur", "ir", "uc")) else root


def lowered(body: str) -> str:
    """Ready to follow other words; names and abbreviations keep their capital."""
    first = body.split(" ", 1)[0]
    return body[0].lower() + body[1:] if first in ("The", "A", "An", "In", "Its", "This", "These", "It") else body


NEGATIONS: Mapping[str, Callable[[str], str | None]] = {
    "not": lambda body: _at_verb(body, lambda verb: f"{verb} not", "did not", "does not"),
    "contracted": lambda body: _at_verb(body, lambda verb: _CONTRACTED.get(verb, f"{verb} not"), "didn't", "doesn't"),
    "never": lambda body: _at_verb(body, lambda verb: f"{verb} never", "did never", "does never"),
    "no_longer": lambda body: _at_verb(body, lambda verb: f"{verb} no longer", "did no longer", "does no longer"),
    "denied": lambda body: f"Those concerned denied that {lowered(body)}",
    "untrue": lambda body: f"It is untrue that {lowered(body)}",
    "myth": lambda body: f"It is a myth that {lowered(body)}",
}
"""Form -> a statement's denial, in that form; None where it has no finite verb that the form could take."""


def negate(body: str, rng: np.random.Generator, *, forms: Sequence[str] = tuple(NEGATIONS)) -> str:
    """*body* denied, in the first of *forms*, in random order, that fits it; a body that none fits stays."""
    for form in rng.permutation(np.array(forms)).tolist():
        denied = NEGATIONS[form](body) if body else None
        if denied is not None:
            return denied
    return body


# ---------------------------------------------------------------- numbers

_NUMBER_WORDS = (
    "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy "
    "eighty ninety"
).split()
NUMBER = re.compile(
    rf"(?<![A-Za-z]-)(?<![\w.,])\$?(?P<digits>\d+(?:[.,]\d+)*)|\b(?P<word>{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE
)
YEAR = re.compile(r"(?:19|20)\d\d")


def change_numbers(body: str, rng: np.random.Generator) -> str:
    """Every number of *body*, digits or word, replaced by another of its kind; `Q4` and `COVID-19` are names."""
    return NUMBER.sub(lambda match: other_number(match, rng), body)


def other_number(match: re.Match[str], rng: np.random.Generator) -> str:
    """Another number than the one that `NUMBER` matched, of its kind."""
    if match["word"]:
        choices = [word for word in _NUMBER_WORDS if word != match["word"].lower()]
        return str(choices[int(rng.integers(len(choices)))])
    return match[0].replace(match["digits"], _other_digits(match["digits"], rng))


def _other_digits(digits: str, rng: np.random.Generator) -> str:
    place = 3 if YEAR.fullmatch(digits) else 0
    lowest = 0 if place else 1
    choices = [str(digit) for digit in range(lowest, 10) if str(digit) != digits[place]]
    return digits[:place] + choices[int(rng.integers(len(choices)))] + digits[place + 1 :]


# ---------------------------------------------------------------- words


def shuffle_words(body: str, rng: np.random.Generator) -> str:
    return " ".join(rng.permutation(np.array(body.split(), dtype=object)).tolist())


def delete_words(body: str, rng: np.random.Generator) -> str:
    """*body* without a random 30 % of its words."""
    parts = body.split()
    gone = set(rng.choice(len(parts), size=round(_DELETED_SHARE * len(parts)), replace=False).tolist())
    return " ".join(word for place, word in enumerate(parts) if place not in gone)


# ---------------------------------------------------------------- the suite

_OF_BODIES: Mapping[str, Callable[[str, np.random.Generator], str]] = {
    "negate": negate,
    "number": change_numbers,
    "shuffle": shuffle_words,
    "delete": delete_words,
}
PERTURBATIONS = (*_OF_BODIES, "merge", "prose", "pad", "echo")


def perturb(
    name: str, bullets: Sequence[str], *, seed: int, foreign: Sequence[str] = (), query: str | None = None
) -> list[str]:
    """
    Return the bullets, with their markers and citations, as *name* changes them, one of `PERTURBATIONS`.

    A bullet's change depends on *seed* and on its own text alone. `pad` gives each bullet a line of *foreign*, which
    are about something else; `echo` puts *query* in the place of every bullet.

    Raises:
        ValueError: The name is unknown, or what the perturbation needs is missing.
    """
    if name in _OF_BODIES:
        return [_changed(name, bullet, seed) for bullet in bullets]
    if name == "merge":
        return ["- " + " ".join(_parts(bullet)[1] + _parts(bullet)[2] for bullet in bullets)] if bullets else []
    if name == "prose":
        return [unit.text for unit in statements(" ".join(map(_closed, bullets)))]
    if name == "pad" and foreign:
        return [_padded(bullet, foreign[stable_seed(seed, bullet) % len(foreign)]) for bullet in bullets]
    if name == "echo" and query:
        return [f"- {query}" for _ in bullets]
    msg = f"perturbation {name!r}: expected one of {PERTURBATIONS}, with `foreign` for pad and `query` for echo"
    raise ValueError(msg)


def cite_all(bullets: Sequence[str], n_documents: int) -> list[str]:
    """Return the bullets with every document cited by each, and by nothing else."""
    cited = f"[{', '.join(map(str, range(1, n_documents + 1)))}]"
    return [f"{without_citations(bullet)} {cited}" for bullet in bullets]


def _parts(bullet: str) -> tuple[str, str, str]:
    """List marker, statement, citations."""
    found = _MARKED.match(bullet)
    assert found is not None  # each group may be empty
    return found[1], found[2], found[3]


def _closed(bullet: str) -> str:
    """Return a bullet as a sentence of a paragraph, with its full stop."""
    _, body, citations = _parts(bullet)
    said = f"{body}{citations}".strip()
    return said if not said or said.endswith((".", "!", "?")) or body.endswith((".", "!", "?")) else f"{said}."


def _changed(name: str, bullet: str, seed: int) -> str:
    marker, body, citations = _parts(bullet)
    rng = np.random.default_rng(stable_seed(seed, name, bullet))
    return marker + (_OF_BODIES[name](body, rng) if body else body) + citations


def _padded(bullet: str, line: str) -> str:
    marker, body, citations = _parts(bullet)
    return f"{marker}{body} {_parts(line)[1]}{citations}"


# ---------------------------------------------------------------- what it does to a judge


def dropped(pairs: Sequence[tuple[str, float, float]], *, seed: int, resamples: int = 2000) -> dict[str, Estimate]:
    """
    Return the means `before` and `after` a perturbation, and their `drop`, with intervals over summaries.

    *pairs* have a summary and a judge's scores of one of its insights, as it was written and perturbed.
    """
    clusters = [summary for summary, *_ in pairs]
    before, after = np.array([scores for _, *scores in pairs]).reshape(-1, 2).T
    return {
        name: pooled_mean(values, np.ones(len(values)), clusters, seed=seed, resamples=resamples)
        for name, values in {"before": before, "after": after, "drop": before - after}.items()
    }
