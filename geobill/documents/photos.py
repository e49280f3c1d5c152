"""Photos made small for a paper: turned upright, without what the camera wrote into them, never larger than they need be."""

import io

from PIL import Image, ImageOps

LONGEST_PX = 640
MOST_PIXELS = 100_000_000  # what claims more is listed, not opened
QUALITY = 78
FORMATS = ("JPEG", "PNG")


def small_jpeg(content: bytes) -> bytes | None:
    """Return a photo as a small JPEG without its metadata; None where it is no JPEG or PNG that can be read (a scan as PDF).

    Parameters
    ----------
    content : bytes
        As it is kept in the archive.
    """
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as photo:
            if photo.width * photo.height > MOST_PIXELS:
                return None
            photo.draft("RGB", (2 * LONGEST_PX, 2 * LONGEST_PX))
            upright = ImageOps.exif_transpose(photo)
            if "A" in upright.getbands() or "transparency" in upright.info:
                over = Image.new("RGBA", upright.size, "white")
                over.alpha_composite(upright.convert("RGBA"))
                upright = over
            made = upright.convert("RGB")
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        Image.DecompressionBombError,
    ):  # what Pillow raises on a broken file
        return None
    made.thumbnail((LONGEST_PX, LONGEST_PX))
    out = io.BytesIO()
    made.save(out, "JPEG", quality=QUALITY, optimize=False, progressive=False)
    return out.getvalue()
