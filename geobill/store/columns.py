"""The kinds of column that a store has: those that GDAL and QGIS read whole (see :mod:`geobill.store.tables`)."""

from sqlalchemy import DOUBLE_PRECISION, REAL, TEXT, BigInteger, Column, ForeignKey, Integer

# SQLite's INTEGER and REAL have 64 bits; those of PostgreSQL have 32: cents end at R$ 21 million, metres at seven digits
INTEGER = Integer().with_variant(BigInteger(), "postgresql")
REAL_NUMBER = REAL().with_variant(DOUBLE_PRECISION(), "postgresql")


def text(name: str, *, null: bool = False) -> Column[str]:
    """Make a column of text: names, ISO dates and times, exact figures."""
    return Column(name, TEXT, nullable=null)


def integer(name: str) -> Column[int]:
    """Make a column of whole numbers, never null: a null would make GDAL's readers turn it into a float."""
    return Column(name, INTEGER, nullable=False)


def key() -> Column[int]:
    """Make the integer key that GeoPackage wants."""
    return Column("fid", INTEGER, primary_key=True, autoincrement=True)


def id_(name: str = "id") -> Column[str]:
    """Make the unique id that people and other tables use."""
    return Column(name, TEXT, nullable=False, unique=True)


def points_to(name: str, target: str, *, null: bool = False) -> Column[str]:
    """Make a column that names a row of another table."""
    return Column(name, TEXT, ForeignKey(target), nullable=null, index=name == "batch")
