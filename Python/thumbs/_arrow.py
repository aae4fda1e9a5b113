"""The result table, as Arrow record batches."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional

import pyarrow as pa

from . import _shards
from .result import Result, Thumbnail

Value = Callable[[Result], Any]

BATCH_ROWS = 1000
BATCH_BYTES = 16 << 20

_COLUMNS: Dict[str, Any] = {
    "url": pa.string(), "status": pa.string(), "code": pa.string(), "retryable": pa.bool_(), "http": pa.int32(),
    "final_url": pa.string(), "origin": pa.string(), "width": pa.int32(), "height": pa.int32(),
    "format": pa.string(), "bytes": pa.int64(),
}
_LAST_COLUMNS = {"attempts": pa.int32(), "ms": pa.int32()}
_THUMBNAIL = {
    "spec": pa.string(), "width": pa.int32(), "height": pa.int32(), "format": pa.string(), "data": pa.binary(),
}


def schema(sizes: int) -> Any:
    """Returns the schema of the table: a column `thumbnail` for one size, a list `thumbnails` for several."""
    if sizes > 1:
        thumbnails = {"thumbnails": pa.list_(pa.struct(list(_THUMBNAIL.items())))}
    else:
        thumbnails = {"thumbnail": pa.binary()}
    return pa.schema(list({**_COLUMNS, **thumbnails, **_LAST_COLUMNS}.items()))


def fitting(results: Iterable[Result], is_single: bool) -> Iterator[Result]:
    """Yields the results. Raises `ValueError` at one with several thumbnails if the table has a column for one."""
    for result in results:
        if is_single and len(result.thumbnails) > 1:
            raise ValueError(f"Row {result.index} has {len(result.thumbnails)} thumbnails, but the table has a column "
                             "for one; pass several sizes to get a list.")
        yield result


def batches(
    results: Iterable[Result], table: Any, values: Mapping[str, Value], rows: Optional[int] = None,
    seconds: float = math.inf,
) -> Iterator[Any]:
    """Yields record batches with the results. A column that `values` lacks is the field of the result of its name.

    A batch has at most `rows` rows, 1,000 by default, and none that came later than `seconds` after its first one, but
    for the last.
    """
    for group in _shards.groups(results, rows or BATCH_ROWS, BATCH_BYTES, seconds):
        yield _batch(list(group), table, values)


def _batch(results: List[Result], table: Any, values: Mapping[str, Value]) -> Any:
    columns = [
        array([value(result) for result in results], field)
        for field in table
        for value in [values.get(field.name) or value_of(field.name)]
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table)


def array(values: List[Any], field: Any) -> Any:
    """Returns an array of the type of a field. A missing value of pandas is null."""
    try:
        try:
            return pa.array(values, field.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return pa.array(values, field.type, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The column {field.name!r} has values that are not of the type {field.type}, which the first rows have: "
            f"{error}. Pass row_schema with another type.") from error


def value_of(name: str) -> Value:
    """Returns the value of a column that is the field of a result."""
    return _structs if name == "thumbnails" else lambda result: getattr(result, name)


def _structs(result: Result) -> List[Dict[str, Any]]:
    return [_struct(thumbnail) for thumbnail in result.thumbnails]


def _struct(thumbnail: Thumbnail) -> Dict[str, Any]:
    return {name: getattr(thumbnail, name) for name in _THUMBNAIL}
