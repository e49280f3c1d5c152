"""What a PDF says, read back from its bytes."""

import re

import pypdfium2


def text_of(pdf: bytes) -> str:
    """All text of a document with single spaces; no-break spaces, zero-width spaces and line breaks don't matter."""
    document = pypdfium2.PdfDocument(pdf)
    pages = [page.get_textpage().get_text_range() for page in document]
    return squeeze(" ".join(pages))


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub("[\u200b\ufffe\u00ad\x02]", "", text.replace("\u00a0", " "))).strip()


def packed(text: str) -> str:
    """Without any space, for what may be broken over lines and cells."""
    return re.sub(r"\s+", "", squeeze(text))


def page_count(pdf: bytes) -> int:
    return len(pypdfium2.PdfDocument(pdf))
