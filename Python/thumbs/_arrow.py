"""The result table, as Arrow record batches."""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, List

import pyarrow as pa

from . import _shards
from .result import Result, Thumbnail

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


def fitting(results: Iterable[Result], table: Any) -> Iterator[Result]:
    """Yields the results. Raises `ValueError` at one with several thumbnails if the table has a column for one."""
    is_single = "thumbnail" in table.names
    for result in results:
        if is_single and len(result.thumbnails) > 1:
            raise ValueError(f"Row {result.index} has {len(result.thumbnails)} thumbnails, but the table has a column "
                             "for one; pass several sizes to get a list.")
        yield result


def batches(results: Iterable[Result], table: Any, url: Callable[[Result], Any]) -> Iterator[Any]:
    """Yields record batches with the results. `url` returns the value of the column `url`."""
    for group in _shards.groups(results, BATCH_ROWS, BATCH_BYTES):
        yield _batch(list(group), table, url)


def _batch(results: List[Result], table: Any, url: Callable[[Result], Any]) -> Any:
    values: Dict[str, Callable[[Result], Any]] = {"url": url, "thumbnails": _structs}
    columns = [
        pa.array([value(result) for result in results], field.type)
        for field in table
        for value in [values.get(field.name, lambda result, name=field.name: getattr(result, name))]
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table)


def _structs(result: Result) -> List[Dict[str, Any]]:
    return [_struct(thumbnail) for thumbnail in result.thumbnails]


def _struct(thumbnail: Thumbnail) -> Dict[str, Any]:
    return {name: getattr(thumbnail, name) for name in _THUMBNAIL}
