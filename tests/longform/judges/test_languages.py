from longform.judges.cards import unmeasured_languages

GERMAN = "Der Rat stimmte für den Bau der neuen Schule, die bald fertig ist."
ENGLISH = "The council voted for the school that is soon to be built."


def test_each_unmeasured_language_is_told_with_its_counts_and_judges() -> None:
    texts = {"answers of a": [GERMAN, ENGLISH, "42"], "documents": ["市议会通过。", GERMAN], "targets": [ENGLISH]}
    judges = {"offline": ["en"], "own": ["de", "en"]}
    assert unmeasured_languages(texts, judges) == [
        "Written in German: 1 of 3 answers of a; 1 of 2 documents: this judge (offline) was measured on English only.",
        "Written in Chinese: 1 of 2 documents: these judges (offline, own) were measured on English and German only.",
    ]


def test_nothing_is_told_of_measured_languages_or_without_such_judges() -> None:
    assert unmeasured_languages({"answers": [ENGLISH, "42"]}, {"offline": ["en"]}) == []
    assert unmeasured_languages({"answers": [GERMAN]}, {}) == []
