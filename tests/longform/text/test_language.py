"""Languages of texts written for this test, and of English that other scripts or names stand in."""

import pytest

from longform.text.language import language, language_name

WRITTEN = {
    "de": "Der Stadtrat stimmte am 4. März für den Bau der neuen Schule, die 3,4 Millionen kostet.",
    "fr": "La commission a rejeté la demande parce que le dossier n'était pas complet.",
    "es": "La comisión rechazó la solicitud porque el expediente no estaba completo.",
    "it": "La commissione ha respinto la domanda perché il fascicolo non era completo.",
    "pt": "A comissão rejeitou o pedido porque o processo não estava completo.",
    "nl": "De commissie wees het verzoek af omdat het dossier niet volledig was.",
    "id": "Komisi menolak permohonan itu karena berkasnya tidak lengkap.",
    "tr": "Komisyon, dosya eksik olduğu için başvuruyu reddetti ve kararı bildirdi.",
    "pl": "Komisja odrzuciła wniosek, ponieważ dokumenty nie były kompletne.",
    "vi": "Ủy ban đã từ chối đơn vì hồ sơ không đầy đủ.",
    "sv": "Nämnden avslog ansökan eftersom handlingarna inte var fullständiga.",
    "sw": "Kamati ilikataa ombi hilo kwa sababu faili haikuwa kamili.",
    "ru": "Комиссия отклонила заявку.",
    "uk": "Комісія відхилила заявку через неповні документи.",
    "ar": "رفضت اللجنة الطلب لأن الملف لم يكن كاملا.",
    "he": "הוועדה דחתה את הבקשה.",
    "hi": "समिति ने आवेदन को अस्वीकार कर दिया।",
    "ja": "Apple社はiPhone 15 Pro Maxの発売を延期した。",
    "ko": "위원회는 신청을 기각했다.",
    "zh": "委员会驳回了申请(Acme Inc.)。",
}


@pytest.mark.parametrize("code", WRITTEN)
def test_a_sentence_has_its_language(code: str) -> None:
    assert language(WRITTEN[code]) == code


@pytest.mark.parametrize(
    "text",
    [
        "The Müller-Straße project of Zürich cost CHF 3 million, and José Peña led it.",
        "α-tocopherol and β-carotene lowered TNF-α in the mice that were fed with them.",
        "FedEx's Q3 earnings (EPS $3.41, FY23) topped views; Citigroup cut its FDX target, said José Muñoz.",
        "- **Kubernetes**: run `kubectl get pods -n prod` and read the logs [1][2].",
    ],
)
def test_english_with_names_and_numbers_is_english(text: str) -> None:
    assert language(text) == "en"


@pytest.mark.parametrize("text", ["", "42", "Foot Locker", "Claude Opus 4.1, GPT-4o, 3.5", "x = f(y)[1]", "Oui."])
def test_short_text_has_no_language(text: str) -> None:
    assert language(text) is None


def test_languages_have_names() -> None:
    assert [language_name(code) for code in ("ja", "und")] == ["Japanese", "a language in another script"]
