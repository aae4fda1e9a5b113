"""Turns rows into the members of an input line of the worker."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Mapping, Optional

MEMBERS = ("url", "urls", "size", "focus", "headers", "priority", "name", "sha256")
"""The members of a row that the worker reads, except `depends`: after a restart, the earlier rows may be gone."""

LONGEST_LINE = (1 << 20) - 64


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


def entry(index: int, row: Any, url_column: str) -> Entry:
    """Returns the entry of a row: a URL, or a mapping with a URL in `url_column`."""
    try:
        text = json.dumps(_members(row, url_column), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        members = text.encode()[1:]
    except (TypeError, ValueError, RecursionError) as error:
        return Entry(index, row, reason=str(error))
    if len(members) > LONGEST_LINE:
        return Entry(index, row, reason=f"it is longer than {LONGEST_LINE} bytes")
    return Entry(index, row, members)


def _members(row: Any, url_column: str) -> Mapping[str, Any]:
    if isinstance(row, str):
        return {"url": row}
    if not isinstance(row, Mapping):
        raise TypeError(f"it is of type {type(row).__name__}, not a URL or a mapping")
    members = {name: row[name] for name in MEMBERS if row.get(name) is not None}
    members["url"] = row.get(url_column)
    return members
