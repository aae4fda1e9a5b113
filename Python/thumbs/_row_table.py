"""A table with the columns of the rows next to those of their results."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional

import pyarrow as pa

from . import _arrow, _redaction
from ._arrow import Value
from ._finished import stored_url
from .result import Result

_FIRST = {"index": pa.int64(), "url": pa.string()}
_AFTER_CODE = {"message": pa.string()}
_AFTER_BYTES = {"sha256": pa.string()}
_JSON = {b"thumbs": b"json"}
"""Marks a column whose texts are JSON."""
_OF_ONE = {"thumbnail_width": pa.int32(), "thumbnail_height": pa.int32(), "thumbnail_format": pa.string()}


@dataclass(frozen=True)
class RowTable:
    """The schema of a table, and the values of its columns."""

    schema: Any
    values: Mapping[str, Value]

    @classmethod
    def of(cls, rows: Any, url_col: str, sizes: int, prefix: str, original: bool = False) -> RowTable:
        """Returns the table for rows with the schema `rows`, whose result columns begin with `prefix`. With `original`,
        one of them has the downloaded files.

        Raises `ValueError` if a column of the rows has the name of one of the results.
        """
        results = _results(sizes, original)
        kept = [field for field in rows if prefix or (field.name, url_col) != ("url", "url")]
        taken = sorted({prefix + name for name in results} & {field.name for field in kept})
        if taken:
            raise ValueError(f"The rows have a column {taken[0]!r}, as their results do; give the columns of the "
                             "results a prefix, such as prefix=\"thumbs_\".")
        fields = [_stored(field) for field in kept]
        values = {field.name: _of_row(field.name, field.metadata == _JSON) for field in fields}
        return cls(
            pa.schema([*((prefix + name, kind) for name, kind in _FIRST.items()), *fields,
                       *((prefix + name, kind) for name, kind in results.items() if name not in _FIRST)]),
            {**values, **{prefix + name: _of_result(name, url_col) for name in results}})

    def without(self, name: str) -> RowTable:
        """Returns the table without a column."""
        kept = [field for field in self.schema if field.name != name]
        return RowTable(pa.schema(kept), {field.name: self.values[field.name] for field in kept})


def inferred(results: List[Result]) -> Any:
    """Returns the Arrow schema of the rows of `results`. A column with values of several types has texts in JSON."""
    rows = [result.row for result in results if isinstance(result.row, Mapping)]
    names = dict.fromkeys(name for row in rows for name in row if isinstance(name, str))
    return pa.schema([(name, _kind([row.get(name) for row in rows])) for name in names])


def of_files(table: Any, sizes: int, prefix: str, original: bool = False) -> Any:
    """Returns the schema of the rows in a table that was written earlier."""
    results = {prefix + name for name in _results(sizes, original)}
    return pa.schema([field for field in table if field.name not in results])


def known(schema: Optional[Callable[[], Any]]) -> Any:
    """Returns the schema of a source; None if it has none, or one of its columns has values of several types."""
    try:
        return None if schema is None else schema()
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _results(sizes: int, original: bool) -> Dict[str, Any]:
    kinds = dict(_FIRST)
    for field in _arrow.schema(sizes):
        kinds[field.name] = field.type
        kinds.update({"code": _AFTER_CODE, "bytes": _AFTER_BYTES, "thumbnail": _OF_ONE}.get(field.name, {}))
    return {**kinds, "original": pa.binary()} if original else kinds


def _kind(values: List[Any]) -> Any:
    values = [_redaction.typed(value) for value in values]
    try:
        kind = pa.array(values, from_pandas=True).type
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.null()
    return pa.string() if pa.types.is_null(kind) and not any(value is not None for value in values) else kind


def _stored(field: Any) -> Any:
    """Returns the field of a column in the table: header fields, and values of several types, are texts in JSON."""
    if field.metadata == _JSON or field.name == "headers" or pa.types.is_null(field.type):
        return pa.field(field.name, pa.string(), metadata=_JSON)
    return pa.field(field.name, field.type)


def _of_row(name: str, is_json: bool) -> Value:
    def value(result: Result) -> Any:
        found = result.row.get(name) if isinstance(result.row, Mapping) else None
        if found is None or not is_json:
            return _redaction.typed(found, result.url)
        return json.dumps(_redaction.row({name: found}, result.url)[name], allow_nan=False)

    return value


def _of_result(name: str, url_col: str) -> Value:
    values: Dict[str, Value] = {
        "url": lambda result: stored_url(result.row, url_col, result.url),
        "sha256": lambda result: (result.report.get("source") or {}).get("sha256"),
        **{column: _of_thumbnail(column.rpartition("_")[2]) for column in _OF_ONE},
    }
    return values.get(name) or _arrow.value_of(name)


def _of_thumbnail(name: str) -> Value:
    return lambda result: getattr(result.thumbnails[0], name) if result.thumbnails else None
