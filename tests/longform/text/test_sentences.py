import pytest
from hypothesis import given
from hypothesis import strategies as st
from nupunkt import sentence_spans

from longform.text.sentences import sentences


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    text = "Dr. Smith paid $3.5 million to U.S. Steel Corp. in Jan. 2020. He left."
    assert [s.text for s in sentences(text)] == [text.removesuffix(" He left."), "He left."]


def test_line_break_ends_a_sentence() -> None:
    """A turn without a full stop must not run into the next speaker's."""
    assert [s.text for s in sentences("[student 1] yes\n[student 2] No way\n\n  Bye")] == [
        "[student 1] yes",
        "[student 2] No way",
        "Bye",
    ]


@given(st.text(alphabet="ab. A?!\n1,。？」と．", max_size=60))
def test_sentences_cover_all_but_white_space_in_order(text: str) -> None:
    found = sentences(text)
    assert all(text[s.start : s.end] == s.text == s.text.strip() for s in found)
    assert all(s.text for s in found)
    gaps = zip([0, *[s.end for s in found]], [*[s.start for s in found], len(text)], strict=True)
    assert all(not text[end:start].strip() for end, start in gaps)


@pytest.mark.parametrize(
    "found",
    [
        ["市议会以七票通过[1]。", "大桥要花费三百四十万欧元[2]。"],
        ["（これは例です。）", "「はい。」と言った。", "本当？！", "行った"],
        ["他说：“走吧。”", "是“对。”、“错。”吗？", "好！"],
        ["هل هذا صحيح؟", "نعم، صحيح۔", "آخر"],
        ["यह सही है।", "वह गया॥", "अंत"],
        ["割合は３．５％である．", "Ｕ．Ｓ．社のもの．", "以上"],
    ],
)
@pytest.mark.parametrize("space", ["", " "])
def test_stops_of_other_scripts_end_a_sentence_with_what_they_close(found: list[str], space: str) -> None:
    assert [s.text for s in sentences(space.join(found))] == found


@given(st.text(alphabet=st.characters(codec="latin-1") | st.sampled_from("”’—…ЖБжд"), max_size=80))
def test_text_without_such_stops_ends_sentences_where_english_ends_them(text: str) -> None:
    ends = {end for line in text.split("\n") for _, end in sentence_spans(line)}
    lines = [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]
    for sentence in sentences(text):
        start = max(line for line in lines if line <= sentence.start)
        assert sentence.end - start in ends


FIRST = {
    "de": "Der Rat der Stadt beschloss den Bau der Brücke und die Sperrung der Straße.",
    "fr": "Le conseil de la ville a voté pour le pont et pour la route avec les habitants.",
    "es": "El ayuntamiento votó por el puente y por la carretera con los vecinos de la ciudad.",
    "pt": "A câmara votou pela ponte e pela estrada com os moradores da cidade velha.",
    "nl": "De raad stemde voor de brug en voor de weg met de bewoners van de stad.",
    "pl": "Rada miasta zagłosowała za mostem i za drogą razem z mieszkańcami starego miasta.",
    "ru": "Городской совет проголосовал за мост и за дорогу вместе с жителями города.",
    "el": "Το δημοτικό συμβούλιο ψήφισε για τη γέφυρα και για τον δρόμο της πόλης.",
    "cs": "Rada města hlasovala pro most a pro silnici společně s obyvateli starého města.",
    "tr": "Belediye meclisi köprü ve yol için şehrin sakinleri ile birlikte oy verdi.",
    "it": "Il consiglio della città ha votato per il ponte e per la strada con gli abitanti.",
}
ABBREVIATED = {
    "de": ["Er wird gem. § 12 gesperrt.", "Er zahlt rd. 5 Euro bzw. 3 Kronen.", "Im 1. Quartal kam Prof. Klein."],
    "fr": ["Le directeur, J.-P. Morel, a payé env. 3 euros."],
    "es": ["El Sr. García y la Dra. Pérez pagan aprox. 20 euros."],
    "pt": ["O prof. Lima e a Dra. Costa falaram por aprox. 20 min. na reunião."],
    "nl": ["Dhr. de Vries en mevr. Jansen betaalden 3,4 mln. euro."],
    "pl": ["Prof. dr hab. Nowak mówił o ulicy im. Jana Pawła."],
    "ru": ["Проф. И. И. Иванов живёт на ул. Ленина, д. 5 у моста."],
    "el": ["Ο κ. Παπαδόπουλος έδωσε 3,4 εκατ. ευρώ."],
    "cs": ["Ul. Dlouhá č. 5 stála 3,4 mil. eur."],
    "tr": ["Atatürk Cad. No. 5 kapatılacak."],
    "it": ["L'art. 5 vieta la strada al sig. Rossi."],
}


@pytest.mark.parametrize("code", FIRST)
def test_abbreviations_of_a_language_end_no_sentence(code: str) -> None:
    found = [FIRST[code], *ABBREVIATED[code], FIRST[code]]
    assert [s.text for s in sentences(" ".join(found))] == found
    assert [s.text for one in found for s in sentences(one, within=" ".join(found))] == found


@pytest.mark.parametrize(
    "found",
    [
        ["She met “Dr. Smith” there.", "He left."],
        ["Under Lt. Col. Smith they won.", "He left."],
        ["He runs Yahoo! Inc. in Texas.", "Yes!", "Company is a word."],
        ["Use max. 3 of them.", "He met Max.", "3 men came."],
        ["He liked the sky.", "12 men came."],
        ["It is 5 km.", "12 men walked."],
        ["She said “No.” and went.", "“Here.", "See?”"],
        ["시장은 “네.”라고 말했다.", "비용은 340만 유로이다."],
        ["डॉ. शर्मा ने कहा।", "वह गया।"],
        ["वह गया है.", "वह आया है."],
        ["Խորհուրդը քվեարկեց։", "Ծախսը 3,4 մլն եվրո է։"],
        ["ក្រុមប្រឹក្សាបានបោះឆ្នោត។", "តម្លៃ ៣,៤ លានអឺរ៉ូ។"],
        ["မဲပေးခဲ့သည်။", "ကုန်ကျစရိတ် ၃.၄ သန်း။"],
        ["Τι θα γίνει;", "Κανείς δεν ξέρει."],
        ["Sie sagte: „Wir bauen.“", "Die Stadt zahlt."],
    ],
)
def test_what_looks_like_an_end_is_told_from_one(found: list[str]) -> None:
    assert [s.text for s in sentences(" ".join(found))] == found


def test_a_wrong_language_ends_and_joins_no_english_sentence() -> None:
    text = "He loves art. He said no. Then he met a man from the im. group. Ten of the men ran."
    assert [s.text for s in sentences(text, FIRST["de"])][:2] == [
        "He loves art.",
        "He said no. Then he met a man from the im. group.",
    ]


@pytest.mark.parametrize("part", ["Sr. García vino. ", "“Dr. ", "a. ", "है. ", "Lt. Col. ", "J.-P. ", "។ "])
def test_a_long_text_takes_no_longer(part: str) -> None:
    assert sentences(part * 5_000)
