import pytest

from longform.text.stand_alone import stands_alone, statements, trimmed
from longform.text.words import numbers

NEWS = [
    "The central bank raised rates by 0.25 points on Tuesday, to 5.5 percent.",
    "Great Britain, France and Spain signed the accord in May 2019.",
    "So far, 12 people have died in the storm.",
    "True North, a charity of Oslo, gave away 5,000 meals.",
    "Team GB, led by Ann Lee, won four medals.",
    "Right-wing parties gained 17 seats in the north.",
    "Andrew Hill sold 3.4 million shares of the firm for $2,330.50.",
    "Researchers know that 1 in 20 adults sleeps badly.",
    "Sources said the plan has one aim: growth.",
    "In 2020, farmers planted 40 percent more rice than in 2010.",
]


def said(*lines: str) -> list[tuple[str, int, bool]]:
    """Statements of a document, given as lines of sentences that `|` parts."""
    parts = [line.split("|") for line in lines]
    sentences = [sentence for line in parts for sentence in line]
    opens = [place == 0 for line in parts for place, _ in enumerate(line)]
    return [tuple(statement) for statement in statements(sentences, opens)]


# ---------------------------------------------------------------- one sentence


@pytest.mark.parametrize("sentence", NEWS)
def test_plain_news_comes_out_as_it_went_in(sentence: str) -> None:
    """A name that begins with a word of talk is a name."""
    assert trimmed(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        pytest.param("[student 1] Khan Academy helps pupils.", "Khan Academy helps pupils.", id="bracketed"),
        pytest.param("[Student]: Khan Academy helps pupils.", "Khan Academy helps pupils.", id="bracketed-colon"),
        pytest.param("Student 1: Khan Academy helps pupils.", "Khan Academy helps pupils.", id="numbered"),
        pytest.param("Dr. Ann Lee: Khan Academy helps pupils.", "Khan Academy helps pupils.", id="named"),
        pytest.param("- Sales rose [12] in **May**.", "Sales rose in May.", id="foreign-citation"),
        pytest.param("Sales   rose\tin May.", "Sales rose in May.", id="spaces"),
        pytest.param("Yes, exams were moved to June.", "Exams were moved to June.", id="assent"),
        pytest.param("Absolutely! Well, the exams moved.", "The exams moved.", id="two-interjections"),
        pytest.param("Hi Ann, the exams moved to June.", "The exams moved to June.", id="greeted-by-name"),
        pytest.param("Thanks, Ann and Bob! Exams moved twice.", "Exams moved twice.", id="two-names"),
        pytest.param("That's clear, but 12 exams moved.", "That's clear, but 12 exams moved.", id="not-in-the-middle"),
        pytest.param("And the 12 exams moved.", "The 12 exams moved.", id="connective"),
        pytest.param("So the 12 exams moved.", "The 12 exams moved.", id="so"),
        pytest.param("However, exams moved twice.", "Exams moved twice.", id="however"),
        pytest.param("Bob, I moved the exams.", "I moved the exams.", id="addressed"),
        pytest.param("Well, well.", "Well, well.", id="nothing-would-be-left"),
        pytest.param("Right. Exams moved.", "Right. Exams moved.", id="too-little-would-be-left"),
    ],
)
def test_speakers_interjections_and_connectives_come_off(sentence: str, quoted: str) -> None:
    assert trimmed(sentence) == quoted


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        pytest.param("I heard that the library opens at 7.", "The library opens at 7.", id="that"),
        pytest.param("I really think the library opens late.", "The library opens late.", id="no-that"),
        pytest.param("We've read that using flashcards helps.", "Using flashcards helps.", id="gerund"),
        pytest.param("I think we disagree on the library.", "I think we disagree on the library.", id="we"),
        pytest.param("I heard Ann on the radio today.", "I heard Ann on the radio today.", id="somebody"),
        pytest.param("I read the library's note today.", "I read the library's note today.", id="something"),
        pytest.param("They think that the library is shut.", "They think that the library is shut.", id="others"),
    ],
)
def test_hearsay_comes_off_only_before_a_clause(sentence: str, quoted: str) -> None:
    """`I read the note` reports an act; without its first words it would be no sentence."""
    assert trimmed(sentence) == quoted


@pytest.mark.parametrize(
    "sentence",
    [
        *NEWS,
        "Yes, 3 of 4 pupils passed 12 exams.",
        "[student 2] So, 5.5 hours of sleep suffice.",
        "Finally, I believe that the 1,200 seats were sold in 2019.",
        "And 40 boats came.",
        "Ann, I paid 7 dollars.",
    ],
)
def test_no_number_is_lost(sentence: str) -> None:
    spoken = sentence.partition("] ")[2] or sentence  # the speaker's own number is no part of what is said
    assert numbers(trimmed(sentence)) == numbers(spoken)


@pytest.mark.parametrize("sentence", [NEWS[0], NEWS[3], NEWS[5], NEWS[6], NEWS[8], NEWS[9]])
def test_what_names_its_subject_stands_alone(sentence: str) -> None:
    assert stands_alone(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("They raised rates on Tuesday.", id="pronoun-first"),
        pytest.param("On Tuesday they raised rates.", id="pronoun-near-the-opening"),
        pytest.param("This raised rates for banks.", id="this"),
        pytest.param("There the rates rose again.", id="there"),
        pytest.param("Who raised rates on Tuesday?", id="question"),
        pytest.param("Let's meet at the bank on Tuesday.", id="call"),
        pytest.param("I agree with Ann on rates.", id="assent"),
        pytest.param("I'd love hearing from Ann.", id="wish"),
        pytest.param("How about Tuesday at the bank.", id="proposal"),
        pytest.param("Sign up for our weekly mail.", id="sign-up"),
        pytest.param("Readers may subscribe to Bank Weekly.", id="advertisement"),
        pytest.param("When you save, your bank pays.", id="to-the-listener"),
        pytest.param("...", id="no-word"),
        pytest.param("", id="empty"),
    ],
)
def test_what_needs_its_context_or_says_nothing_does_not_stand_alone(sentence: str) -> None:
    assert not stands_alone(sentence)


def test_a_pronoun_after_its_noun_is_no_harm() -> None:
    assert stands_alone("The central bank of Norway raised its rates.")
    assert stands_alone("Doctors advise you and me against it.")


# ---------------------------------------------------------------- in a document


def test_plain_sentences_are_their_own_statements() -> None:
    assert said("Rates rose in May.|Banks cheered.", "Rain fell on Oslo.") == [
        ("Rates rose in May.", 0, True),
        ("Banks cheered.", 1, True),
        ("Rain fell on Oslo.", 2, True),
    ]


def test_a_dangling_sentence_takes_the_one_before_it_along() -> None:
    first, second = said("[student 1] Yes, rates rose sharply in May.|They hurt small banks.")
    assert first == ("Rates rose sharply in May.", 0, True)
    assert second == ("Rates rose sharply in May. They hurt small banks.", 0, True)


def test_only_what_stands_alone_is_put_before_another() -> None:
    """Else a pronoun would be explained by a pronoun."""
    assert said("They hurt banks.|It went on.")[1] == ("It went on.", 1, False)
    assert said("Who hurt banks?|They did it twice.")[1] == ("They did it twice.", 1, False)


def test_nothing_is_joined_across_lines() -> None:
    """Another line is another speaker's turn, or a heading."""
    assert said("Rates rose in May.", "They hurt small banks.")[1] == ("They hurt small banks.", 1, False)


@pytest.mark.parametrize(("n_words", "joins"), [(41, True), (42, False)])
def test_a_joined_statement_keeps_within_45_words(n_words: int, joins: bool) -> None:
    before = " ".join(["Rates", *["rose"] * (n_words - 1)])
    text, first, alone = said(f"{before}|They hurt small banks.")[1]
    assert (len(text.split()), first, alone) == ((n_words + 4, 0, True) if joins else (4, 1, False))


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        pytest.param("[student 2] My exam moved to June.", "A student says: “My exam moved to June.”", id="kind"),
        pytest.param("Speaker 2: I sold twelve boats.", "A speaker says: “I sold twelve boats.”", id="numbered"),
        pytest.param("[engineer_3] I sold twelve boats.", "An engineer says: “I sold twelve boats.”", id="vowel"),
        pytest.param("Priyanka: I use flashcards daily.", "Priyanka says: “I use flashcards daily.”", id="name"),
        pytest.param("Ann Lee: I've sold twelve boats.", "Ann Lee says: “I've sold twelve boats.”", id="full-name"),
        pytest.param("[student 2] Exams moved to June.", "Exams moved to June.", id="of-no-self"),
        pytest.param("I sold twelve boats today.", "I sold twelve boats today.", id="nobody-named"),
        pytest.param("[student 2] World War II ended then.", "World War II ended then.", id="no-word-I"),
    ],
)
def test_who_speaks_of_himself_is_named(line: str, quoted: str) -> None:
    assert said(line)[0][0] == quoted


def test_a_speaker_is_heard_until_the_line_ends() -> None:
    texts = [text for text, _, _ in said("[student 2] Exams moved.|My exam moved twice.", "My boat sank in June.")]
    assert texts == ["Exams moved.", "A student says: “My exam moved twice.”", "My boat sank in June."]


def test_no_sentences_make_no_statements() -> None:
    assert statements([], []) == []
