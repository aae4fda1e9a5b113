"""Turns rows into the members of an input line of the worker."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Sequence, Union

MEMBERS = ("urls", "size", "focus", "headers", "priority", "name", "sha256")
"""The members of a line besides its URL, except `depends`: after a restart, the earlier rows may be gone."""

LONGEST_LINE = (1 << 20) - 64
SHOWN_NAMES = 10

Mapped = Union[Mapping[str, str], Sequence[str], None]


@dataclass(frozen=True)
class Columns:
    """The columns of a row that have a meaning. All others are only passed on."""

    url: str = "url"
    others: Mapping[str, str] = field(default_factory=dict)
    """The columns of other members, by the name of the member."""

    @classmethod
    def of(cls, url: str, mapped: Mapped) -> Columns:
        """Returns the columns for the arguments `url_col` and `columns` of a run."""
        if isinstance(mapped, (str, bytes)):
            raise TypeError(f"columns is {mapped!r}, but must be a mapping or a list of names, such as [{mapped!r}].")
        others = dict(mapped) if isinstance(mapped, Mapping) else {name: name for name in mapped or ()}
        for name in others:
            if name not in MEMBERS:
                raise ValueError(f"columns has {name!r}, but may only have {', '.join(MEMBERS)}.")
        if others.get("headers", "headers") != "headers":
            raise ValueError("In columns, headers must be called headers: files never have the values of a column of "
                             "this name.")
        return cls(url, others)

    def check(self, names: Sequence[str]) -> None:
        """Raises `ValueError` if a table with the columns `names` lacks one of these."""
        has_urls = "urls" in self.others
        for name in ([] if has_urls else [self.url]) + list(self.others.values()):
            if name not in names:
                raise ValueError(f"There is no column {name!r}; there are {_listed(names)}.")


@dataclass
class Entry:
    """A row, with the text that is sent to the worker, or the reason why there is none."""

    index: int
    row: Any
    members: bytes = b""
    reason: Optional[str] = None

    def line(self, identifier: int) -> bytes:
        """Returns the input line with an `id`."""
        return b'{"id":%d,%b\n' % (identifier, self.members)


def entry(index: int, row: Any, columns: Columns) -> Entry:
    """Returns the entry of a row: a URL, or a mapping."""
    try:
        text = json.dumps(_members(row, columns), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        members = text.encode()[1:]
    except (TypeError, ValueError, RecursionError) as error:
        return Entry(index, row, reason=str(error))
    if len(members) > LONGEST_LINE:
        return Entry(index, row, reason=f"The row is longer than {LONGEST_LINE} bytes.")
    return Entry(index, row, members)


def _members(row: Any, columns: Columns) -> Mapping[str, Any]:
    if isinstance(row, str):
        return {"url": str(row)}
    if not isinstance(row, Mapping):
        raise TypeError(f"The row is of type {type(row).__name__}, but must be a URL or a mapping.")
    members = {name: _member(row, column) for name, column in columns.others.items()}
    members["url"] = _member(row, columns.url)
    if members["url"] is None and members.get("urls") is None:
        raise ValueError(_missing(row, columns.url))
    return {name: value for name, value in members.items() if value is not None}


def _member(row: Mapping[str, Any], column: str) -> Any:
    value = native(row.get(column))
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"The column {column!r} of the row cannot be written as JSON: {error}.") from error
    return value


def _missing(row: Mapping[str, Any], column: str) -> str:
    if column in row:
        return f"The column {column!r} of the row is empty."
    return f"The row has no column {column!r}; it has {_listed(list(map(str, row)))}."


def _listed(names: Sequence[str]) -> str:
    shown: Dict[str, None] = dict.fromkeys(names[:SHOWN_NAMES])
    rest = len(names) - len(shown)
    return (", ".join(map(repr, shown)) or "none") + (f" and {rest} more" if rest > 0 else "")


def native(value: Any) -> Any:
    """Returns a value of NumPy or pandas as one of Python.

    What pandas uses for a missing value becomes None, and a number with a fraction of zero an integer: pandas makes
    fractions of integers in a column that misses some.
    """
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    value = converted(value)
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    return value


def converted(value: Any) -> Any:
    """Returns a number or an array of NumPy as a value of Python, and others as they are."""
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value
