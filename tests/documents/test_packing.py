"""Packing loses nothing: readers see the same pages, text, tags and metadata, in less than half of the bytes."""

import io

import pikepdf
import pypdfium2
import pytest

from documents import records
from documents.reading import text_of
from geobill.documents import typesetting
from geobill.documents.packing import packed
from geobill.documents.render import render_invoice


@pytest.fixture(scope="module")
def plain():
    patch = pytest.MonkeyPatch()
    patch.setattr(typesetting, "packed", lambda pdf: pdf)
    try:
        return render_invoice(records.invoice(lines=records.many_lines(120)), records.small_map(), records.FIGURES)
    finally:
        patch.undo()


def test_readers_see_the_same_in_less_than_half(plain):
    small = packed(plain)
    assert len(small) < len(plain) / 2
    assert text_of(small) == text_of(plain)
    one, other = pypdfium2.PdfDocument(small), pypdfium2.PdfDocument(plain)
    assert len(one) == len(other)
    assert one.get_metadata_dict() == other.get_metadata_dict()
    for page in range(len(one)):
        assert one[page].render().to_numpy().tobytes() == other[page].render().to_numpy().tobytes()


def test_tags_standards_and_language_are_kept(plain):
    with pikepdf.open(io.BytesIO(packed(plain))) as small, pikepdf.open(io.BytesIO(plain)) as large:
        assert small.check_pdf_syntax() == []
        for key in ("/MarkInfo", "/Lang", "/StructTreeRoot", "/Metadata", "/OutputIntents"):
            assert key in small.Root, key
        assert bytes(small.Root.Metadata.read_bytes()) == bytes(large.Root.Metadata.read_bytes())


def test_packing_twice_gives_the_same_bytes(plain):
    assert packed(plain) == packed(plain)


def test_an_invoice_of_300_lines_is_small():
    assert (
        len(render_invoice(records.invoice(lines=records.many_lines()), records.small_map(), records.FIGURES)) < 250_000
    )
