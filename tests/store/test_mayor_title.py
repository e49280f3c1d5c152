"""The mayor's title: a setting that older invoices don't have, and whose default changes no digest."""

from geobill.domain.network import Authority
from geobill.domain.record import canonical_json, from_plain, to_plain
from geobill.store.settings import FILE_NAME, read_settings, write_settings


def test_the_title_is_a_setting_and_its_default_stands_in_no_record(tmp_path):
    path = tmp_path / FILE_NAME
    write_settings(path, "caieiras-lei-3057-2001")
    assert read_settings(path).authority.mayor_title == "Prefeito Municipal"
    assert "mayor_title" not in canonical_json(read_settings(path).authority)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"Prefeito Municipal"\npayment', '"Prefeita Municipal"\npayment'), encoding="utf-8")
    authority = read_settings(path).authority
    assert authority.mayor_title == "Prefeita Municipal"
    assert from_plain(Authority, to_plain(authority)) == authority
