"""A drawn map as documents take it; apart from what draws it, so that a process that only prints needs no geometry."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkMap:
    """A drawing and what belongs beside it.

    ``legend`` holds (colour, label, kind) with kind ``fill``, ``hatch``, ``line``, ``dashed``, ``square`` or
    ``square_open``; the drawing itself carries the scale bar and the north arrow. It must be printed ``width_mm``
    wide, or its scale doesn't hold.
    """

    svg: str
    legend: tuple[tuple[str, str, str], ...]
    scale_text: str
    alt: str
    width_mm: float
    height_mm: float
