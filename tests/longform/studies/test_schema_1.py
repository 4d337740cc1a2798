"""Results as older versions had them: a study of a user is none of theirs, whatever its name."""

from __future__ import annotations

import pytest

from longform.studies import LISTED
from longform.studies.schema_1 import as_before
from longform.tables.table import table_of


@pytest.mark.parametrize("name", LISTED)
def test_a_users_study_may_have_the_name_and_none_of_the_columns_of_a_shipped_one(name: str) -> None:
    tables = {name: table_of(name, [{"mine": 1.0}], title="Mine").as_json()}

    assert as_before(tables, [name]) == {"own_studies": {name: {"title": "Mine", "told": "", "rows": [{"mine": 1.0}]}}}
