"""Tiny random checkpoints: what they say means nothing, how they are read is all."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import pytest

from actors.judges.checkpoint import TOO_LONG, CheckpointJudge
from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from longform.errors import UsageError
from longform.judges.kind import Group, Verdict
from longform.judges.kinds.support import NO_SENTENCE
from longform.settings.judges import CheckpointJudgeSettings
from longform.text.sentences import sentences
from longform.text.windows import sentence_windows
from tests.actors.local_models.tiny_checkpoints import save_bert, save_byte_level, save_t5

LONG = "The bank cut the rate. A cab fed a bee! Did the fed fade? " * 6 + "One bad deed. " * 3
GROUPS = [
    Group("a", (LONG,), ("The bank cut a rate.", "A bee fed a cab.", "The bank cut a rate.")),
    Group("b", ("A bad bank.\nA  fed cab.",), ("A bee fed a cab.", "Rate fed a bank in a dead cafe.")),
    Group("empty", ("  \n",), ("The bank cut a rate.",)),
    Group("a", (LONG,), ("The bank cut a rate.", " ")),
]

Save = Callable[..., str]


def judge(model: str, **settings: Any) -> CheckpointJudge:
    return CheckpointJudge(
        "mine", CheckpointJudgeSettings(kind="checkpoint", task="support", model=model, **settings), threads=1
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checkpoints")


# ---------------------------------------------------------------- the plain loop


def plain_loop(
    made: CheckpointJudge, text: str, sentence: str, *, joined: str = "pair", prefix: str = ""
) -> list[float]:
    """The probability of each window: strings to the tokenizer, one pair a forward pass."""
    import torch

    scorer = made._scorer
    windows = [text[slice(*span)] for span in window_spans(made, text, sentence)]
    found = []
    for window in windows:
        if joined == "pair":
            batch = scorer.tokenizer(prefix + window, sentence, return_tensors="pt")
        else:
            batch = scorer.tokenizer(prefix + window + scorer.tokenizer.eos_token + sentence, return_tensors="pt")
        with torch.inference_mode():
            found.append(scorer._probability(batch).item())
    return found


def window_spans(made: CheckpointJudge, text: str, sentence: str) -> list[tuple[int, int]]:
    tokens = made._tokens.text(text)
    limit = made._limit(len(made._tokens.sentences([sentence])[0]))
    lengths = [[len(ids) for ids in side] for side in tokens]
    found = sentences(text)
    cut = sentence_windows(lengths[0], lengths[1], limit)
    assert all(window.stop is None for window in cut), "no sentence of these texts is longer than a window"
    return [(found[window.first].start, found[window.end - 1].end) for window in cut]


KINDS = {
    "one output": (save_bert, {"n_labels": 1}, {}),
    "two outputs": (save_bert, {"n_labels": 2}, {}),
    "entailment": (save_bert, {"n_labels": 3, "labels": ["contradiction", "neutral", "ENTAILMENT"]}, {}),
    "two outputs, eos": (save_bert, {"n_labels": 2, "eos": True}, {"joined": "eos"}),
    "prefix": (save_bert, {"n_labels": 2}, {"prefix": "bad deed: "}),
    "byte level": (save_byte_level, {}, {}),
    "byte level, eos and prefix": (save_byte_level, {}, {"joined": "eos", "prefix": "fed: "}),
    "words": (save_bert, {"n_labels": 1, "of_words": True}, {"family": "word_classifier"}),
    "flan_t5": (save_t5, {}, {"family": "flan_t5", "prefix": "bad deed: "}),
    "flan_t5 without prefix": (save_t5, {}, {"family": "flan_t5"}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk_tokens", [None, 24])
def test_it_equals_the_plain_loop(folder: Path, kind: str, chunk_tokens: int | None) -> None:
    save, how, settings = KINDS[kind]
    made = judge(
        save(folder / f"{kind} {chunk_tokens}", **how), chunk_tokens=chunk_tokens, batch_tokens=200, **settings
    )
    joined = "eos" if kind.startswith("flan") else settings.get("joined", "pair")
    found = made.judge(GROUPS)
    n_windows = set()
    for group, verdicts in zip(GROUPS, found, strict=True):
        for sentence, verdict in zip(group.items, verdicts, strict=True):
            if not (group.text.strip() and sentence.strip()):
                continue
            plain = plain_loop(made, group.text, sentence, joined=joined, prefix=settings.get("prefix", ""))
            n_windows.add(len(plain))
            assert verdict.probability == pytest.approx(max(plain), abs=1e-4)
            assert verdict.chunk_index is not None
            assert plain[verdict.chunk_index] == pytest.approx(max(plain), abs=1e-4)
            assert verdict.answer == ("supported" if verdict.probability > 0.5 else "unsupported")
    assert min(n_windows) == 1
    assert max(n_windows) > 2
    assert len({verdict.probability for row in found for verdict in row}) > 3, "a model that sees nothing tests nothing"


def test_which_output_is_read_changes_the_answer(folder: Path) -> None:
    """The same weights under other labels; the shares of all three outputs are one."""
    labels = ["contradiction", "neutral", "entailment"]
    model = save_bert(folder / "nli", n_labels=3, labels=labels)
    shares = [judge(model, supported_label=label).judge(GROUPS[1:2])[0][0].probability for label in range(3)]
    assert sum(share for share in shares if share is not None) == pytest.approx(1)
    assert judge(model).judge(GROUPS[1:2])[0][0].probability == pytest.approx(shares[2])
    turned = save_bert(folder / "turned", n_labels=3, labels=labels[::-1])
    assert judge(turned).judge(GROUPS[1:2])[0][0].probability == pytest.approx(shares[0])


# ---------------------------------------------------------------- what it does not do twice


def test_each_text_and_sentence_is_read_once_and_each_pair_scored_once(folder: Path) -> None:
    made = judge(save_bert(folder / "counted", n_labels=2))
    read: list[str] = []
    tokens = made._tokens._tokenizer
    made._tokens._tokenizer = lambda texts, **how: read.extend(texts) or tokens(texts, **how)
    made.judge(GROUPS)
    assert (made.work.texts, made.work.sentences) == (2, 3)
    assert len(read) == sum(len(sentences(text)) for text in (LONG, GROUPS[1].text)) + 3
    windows = len(window_spans(made, LONG, "The bank cut a rate.")) + len(window_spans(made, LONG, "A bee fed a cab."))
    assert made.work.pairs == windows + 2
    assert made.work.tokens <= made.work.padded_tokens


def test_a_verdict_does_not_depend_on_what_is_asked_beside_it(folder: Path) -> None:
    """Else a resumed run would hold other numbers than one in a single piece; windows included."""
    model = save_bert(folder / "alone", n_labels=2)
    together = judge(model).judge([Group("a", (LONG,), ("A bee.", "Bad deed " * 10, "The rate."))])[0]
    for sentence, verdict in zip(("A bee.", "Bad deed " * 10, "The rate."), together, strict=True):
        alone = judge(model).judge([Group("x", (LONG,), (sentence,))])[0][0]
        assert alone.chunk_index == verdict.chunk_index
        assert alone.probability == pytest.approx(verdict.probability, abs=1e-5)


def test_little_of_an_ordinary_load_is_padding(folder: Path) -> None:
    made = judge(save_bert(folder / "padding", n_labels=2), batch_tokens=2000)
    texts = [f"The bank cut the rate. {'One bad deed. ' * (n % 6)}{'bee ' * (n % 7)}{'a' * n}" for n in range(100)]
    asked = tuple("A bee " * n + "fed." for n in range(1, 5))
    groups = [Group(text, (text,), asked) for text in texts]
    made.judge(groups)
    assert 1 - made.work.tokens / made.work.padded_tokens <= 0.05
    assert made.work.batches < made.work.pairs / 3


# ---------------------------------------------------------------- edges


def test_a_sentence_longer_than_a_window_is_cut_and_read_whole(folder: Path) -> None:
    """A text of one sentence of 100 words: what its last window says, no other knows."""
    made = judge(save_bert(folder / "cut", n_labels=2))
    ids = made._tokens.text("bad " * 100 + "bank.")
    limit = made._limit(3)
    windows = sentence_windows([len(ids.opening[0])], [len(ids.following[0])], limit)
    assert [token for window in windows for token in ids.of(window)] == ids.opening[0]
    assert len(windows) > 1
    assert made.judge([Group("a", ("bad " * 100 + "bank.",), ("A bee.",))])[0][0].answer is not None


def test_what_needs_no_model_is_not_asked_of_it(folder: Path) -> None:
    made = judge(save_bert(folder / "idle", n_labels=2))
    assert made.judge([Group("e", (" ",), ("A bee.", " "))]) == [
        [Verdict("unsupported", 0.0), Verdict(None, None, NO_SENTENCE)]
    ]
    assert made.judge([]) == []
    assert made.work.pairs == 0


def test_a_sentence_that_leaves_no_room_is_unjudged(folder: Path) -> None:
    made = judge(save_bert(folder / "full", n_labels=2))
    verdict = made.judge([Group("a", ("A bank.",), ("bad " * 60, "A bee."))])[0]
    assert verdict[0].answer is verdict[0].probability is None
    assert str(verdict[0].failure).startswith(TOO_LONG)
    assert verdict[1].answer is not None


def test_a_weight_that_is_no_number_is_no_verdict(folder: Path) -> None:
    made = judge(save_bert(folder / "nan", n_labels=2))
    made._scorer._model.classifier.bias.data[:] = float("nan")
    assert made.judge(GROUPS[1:2])[0][0] == Verdict(None, None, "probability_not_finite")


@pytest.mark.parametrize(
    ("how", "settings", "message"),
    [
        pytest.param({"n_labels": 3, "labels": ["a", "b", "c"]}, {}, "supported_label", id="which-of-three"),
        pytest.param({"n_labels": 2}, {"supported_label": 2}, "has 2 outputs", id="no-such-output"),
        pytest.param({"n_labels": 2}, {"chunk_tokens": 60}, "expected at most", id="chunks-beyond-the-window"),
        pytest.param({"n_labels": 2}, {"joined": "eos"}, "end-of-sequence", id="no-eos"),
        pytest.param(
            {"n_labels": 2, "of_words": True}, {"family": "word_classifier"}, "found 2 outputs", id="words-of-two"
        ),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(
    folder: Path, how: dict[str, Any], settings: dict[str, Any], message: str, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(UsageError, match=message):
        judge(save_bert(folder / request.node.callspec.id, **how), **settings)


def test_an_encoder_without_a_trained_head_is_refused() -> None:
    """transformers would put random weights in its place, and answer."""
    with pytest.raises(UsageError, match="lacks the weights"):
        judge(MINILM)


# ---------------------------------------------------------------- what the outputs mean

TEXT, SENTENCE = "A bad bank.", "A bee fed a cab."


def test_a_flan_t5_says_one_or_nought_as_the_first_token_it_would_decode(folder: Path) -> None:
    made = judge(save_t5(folder / "says"), family="flan_t5", prefix="bad deed: ")
    tokenizer = made._scorer.tokenizer
    batch = tokenizer(f"bad deed: {TEXT}</s>{SENTENCE}", return_tensors="pt")
    said = made._scorer._model.generate(**batch, max_new_tokens=1, output_logits=True, return_dict_in_generate=True)
    one, nought = (float(said.logits[0][0][tokenizer.convert_tokens_to_ids(token)]) for token in ("▁1", "▁"))
    (verdict,) = made.judge([Group("t", (TEXT,), (SENTENCE,))])[0]
    assert verdict.probability == pytest.approx(1 / (1 + exp(nought - one)), abs=1e-5)


def test_one_output_is_a_logit_and_the_second_of_two_means_supported(folder: Path) -> None:
    one, two = (judge(save_bert(folder / f"means {n}", n_labels=n)) for n in (1, 2))
    group = [Group("t", (TEXT,), (SENTENCE,))]
    logits = [
        made._scorer._model(**made._scorer.tokenizer(TEXT, SENTENCE, return_tensors="pt")).logits[0].tolist()
        for made in (one, two)
    ]
    assert one.judge(group)[0][0].probability == pytest.approx(1 / (1 + exp(-logits[0][0])), abs=1e-5)
    assert two.judge(group)[0][0].probability == pytest.approx(1 / (1 + exp(logits[1][0] - logits[1][1])), abs=1e-5)


# ---------------------------------------------------------------- fewer windows, fewer bits


def test_the_nearest_windows_decide_and_all_of_them_are_as_many_as_there_are(folder: Path) -> None:
    """A sentence of the document is nearest to the window that holds it."""
    model = save_bert(folder / "nearest", n_labels=1)
    text = "The bank cut the rate.\nA cab fed a bee.\nDid the cafe fade?\nOne bad deed in a dead cafe."
    groups = [Group("a", (text,), ("One bad deed in a dead cafe.", "The bank cut the rate."))]
    every = judge(model, chunk_tokens=12)
    [all_windows] = every.judge(groups)
    [as_many] = judge(model, chunk_tokens=12, best_windows=50).judge(groups)
    assert as_many == all_windows
    one = judge(model, chunk_tokens=12, best_windows=1)
    [nearest] = one.judge(groups)
    spans = [window_spans(one, text, sentence) for sentence in groups[0].items]
    holding = [
        next(place for place, (start, end) in enumerate(found) if sentence[:12] in text[start:end])
        for found, sentence in zip(spans, groups[0].items, strict=True)
    ]
    assert [verdict.chunk_index for verdict in nearest] == holding
    assert one.work.pairs == 2
    assert every.work.pairs == sum(len(found) for found in spans) > 4
    assert all(a.probability <= b.probability for a, b in zip(nearest, all_windows, strict=True))  # type: ignore[operator]


def test_fewer_bits_are_near_the_full_number(folder: Path) -> None:
    model = save_bert(folder / "bits", n_labels=1)
    full, reduced = (
        [verdict.probability for row in judge(model, precision=bits).judge(GROUPS) for verdict in row]
        for bits in ("float32", "bfloat16")
    )
    assert full != reduced
    assert [value for value in reduced if value is not None] == pytest.approx(
        [value for value in full if value is not None], abs=0.05
    )


@pytest.mark.parametrize("sentence", [SENTENCE, "A bee § fed.", "§"])
def test_the_odds_of_a_sentence_are_one_over_the_sum_of_its_words_odds_to_be_wrong(folder: Path, sentence: str) -> None:
    """It holds for words that the model does not know, too."""
    made = judge(save_bert(folder / f"words mean {sentence}", n_labels=1, of_words=True), family="word_classifier")
    tokens = made._scorer.tokenizer(TEXT, sentence, return_tensors="pt")
    of_sentence = [at for at, side in enumerate(tokens.sequence_ids(0)) if side == 1]
    logits = made._scorer._model(**tokens).logits[0, of_sentence, 0].tolist()
    odds = 1 / sum(exp(logit) for logit in logits)
    assert made.judge([Group("t", (TEXT,), (sentence,))])[0][0].probability == pytest.approx(odds / (1 + odds))


def test_a_share_of_the_probability_is_how_near_the_nearest_sentences_are(folder: Path) -> None:
    """A sentence said word for word has a cosine of 1; one put together from two neighbours is near their sum."""
    model = save_bert(folder / "near", n_labels=1)
    asked = ("A cab fed a bee!", "The bank cut the rate. A cab fed a bee!", "Did a dead cab fade in the bank?")
    group = [Group("t", (LONG,), asked)]
    plain, mixed = (judge(model, cosine_share=share).judge(group)[0] for share in (0, 0.25))
    cosines = [(b.probability - 0.75 * a.probability) / 0.25 for a, b in zip(plain, mixed, strict=True)]
    vectors = Encoder(MINILM, threads=1)
    sentence, one, two = (vectors.embed([text])[0] for text in (asked[1], "The bank cut the rate.", asked[0]))
    assert cosines[0] == pytest.approx(1, abs=1e-5)
    assert cosines[1] == pytest.approx(sentence @ (one + two) / float(((one + two) ** 2).sum() ** 0.5), abs=1e-4)
    assert cosines[1] > max(sentence @ one, sentence @ two)
    assert cosines[2] < 0.9
    assert [a.chunk_index for a in plain] == [b.chunk_index for b in mixed]
