"""The Parquet files next to the shards of a WebDataset."""
from __future__ import annotations

from dataclasses import replace
from typing import IO, Any, Callable, Iterable, Iterator, List, Optional

from . import _arrow, _row_table, parquet
from ._row_table import RowTable
from .result import Result


class ShardTable:
    """Writes the rows of each shard without their thumbnails. All files have the same columns."""

    def __init__(self, rows: Optional[Callable[[], Any]], url_col: str, earlier: Optional[IO[bytes]]) -> None:
        """`rows` returns the schema of the rows; None if they have none. `earlier` is a file of an earlier call."""
        self._url_col = url_col
        self._results: List[Result] = []
        self._rows: Any = _row_table.known(rows)
        if earlier is not None:
            with earlier:
                self._rows = _row_table.of_files(parquet.schema_of(earlier), 1, "")

    def kept(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yields the results of a shard, and keeps them without the bytes of their images."""
        self._results = []
        for result in results:
            yield result
            empty = [replace(thumbnail, data=b"") for thumbnail in result.thumbnails[:1]]
            self._results.append(replace(result, thumbnails=tuple(empty), original=None))

    def write(self, file: IO[bytes]) -> None:
        """Writes the results that were kept."""
        if self._rows is None:
            self._rows = _row_table.inferred(self._results)
        table = RowTable.of(self._rows, self._url_col, 1, "").without("thumbnail")
        parquet.write_file(file, _arrow.batches(self._results, table.schema, table.values), table.schema)
