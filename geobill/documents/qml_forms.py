"""The form in which QGIS shows and takes a layer's values, as QML: value maps, what may be typed, groups, checks.

Without anything that may be typed the whole layer is read-only there: the pencil stays grey.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

HARD = "1"  # a constraint that keeps QGIS from saving


@dataclass(frozen=True)
class Check:
    """What QGIS holds a typed column to: an expression that must be true, and what a person reads where it isn't."""

    column: str
    expression: str
    said: str


@dataclass(frozen=True)
class Form:
    """How a layer's values are shown and typed.

    ``typed`` names the columns that may be typed; all others are read-only. ``choices`` are value maps by column, stored
    value to words; ``long`` columns take several lines; ``hidden`` ones aren't shown; ``groups`` are titles of the form's
    boxes with their columns, and none lists all columns below each other.
    """

    typed: Sequence[str] = ()
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    long: Sequence[str] = ()
    hidden: Sequence[str] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    checks: Sequence[Check] = ()

    @property
    def read_only(self) -> bool:
        """Whether nothing at all may be typed."""
        return not self.typed


def add_form(root: Element, columns: Sequence[str], form: Form) -> None:
    """Add a layer's form to its style."""
    fields = SubElement(root, "fieldConfiguration")
    for name in columns:
        _add_widget(SubElement(fields, "field", name=name, configurationFlags="None"), name, form)
    listed = SubElement(root, "constraints")
    expressions = SubElement(root, "constraintExpressions")
    for check in form.checks:
        strengths = {"exp_strength": HARD, "notnull_strength": "0", "unique_strength": "0"}
        SubElement(listed, "constraint", {"field": check.column, "constraints": "4", **strengths})
        SubElement(expressions, "constraint", {"field": check.column, "exp": check.expression, "desc": check.said})
    table = SubElement(root, "attributetableconfig", actionWidgetStyle="dropDown", sortExpression="", sortOrder="0")
    shown = SubElement(table, "columns")
    for name in ("fid", *columns):
        hidden = name == "fid" or name in form.hidden
        SubElement(shown, "column", name=name, type="field", hidden=str(int(hidden)), width="-1")
    if form.groups:
        SubElement(root, "editorlayout").text = "tablayout"
        boxes = SubElement(root, "attributeEditorForm")
        for title, names in form.groups.items():
            box = SubElement(
                boxes, "attributeEditorContainer", name=title, groupBox="1", columnCount="1", showLabel="1",
                collapsed="0", visibilityExpressionEnabled="0", visibilityExpression="",
            )  # fmt: skip
            for name in names:
                SubElement(box, "attributeEditorField", name=name, index=str(columns.index(name)), showLabel="1")
    else:
        SubElement(root, "editorlayout").text = "generatedlayout"
    editable = SubElement(root, "editable")
    for name in ("fid", *columns):
        SubElement(editable, "field", name=name, editable=str(int(name in form.typed)))


def _add_widget(parent: Element, name: str, form: Form) -> None:
    if name in form.hidden:
        SubElement(parent, "editWidget", type="Hidden")
        return
    if name in form.choices:
        whole = _map(SubElement(SubElement(parent, "editWidget", type="ValueMap"), "config"))
        entries = SubElement(whole, "Option", name="map", type="List")
        for value, words in form.choices[name].items():
            SubElement(SubElement(entries, "Option", type="Map"), "Option", name=words, type="QString", value=value)
        return
    whole = _map(SubElement(SubElement(parent, "editWidget", type="TextEdit"), "config"))
    SubElement(whole, "Option", name="IsMultiline", type="bool", value=str(name in form.long).lower())
    SubElement(whole, "Option", name="UseHtml", type="bool", value="false")  # what was typed is never drawn as markup


def _map(parent: Element) -> Element:
    return SubElement(parent, "Option", type="Map")
