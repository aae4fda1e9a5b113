"""The Parquet files next to the shards of a WebDataset."""
from __future__ import annotations

from dataclasses import replace
from typing import IO, Any, Iterable, Iterator, List, Optional

from . import _arrow, _row_table, parquet
from ._row_table import RowTable
from .result import Result


class ShardTable:
    """Writes the rows of each shard without their thumbnails. All files have the same columns."""

    def __init__(self, rows: Any, url_col: str, prefix: str, earlier: Optional[IO[bytes]]) -> None:
        """`rows` is the schema of the rows; None if it is unknown. `earlier` is a file of an earlier call.

        Raises `ValueError` if a column of the rows has the name of one of the results, as `kept` does for other rows.
        """
        self._url_col, self._prefix, self._rows = url_col, prefix, rows
        self._results: List[Result] = []
        if earlier is not None:
            with earlier:
                self._rows = _row_table.of_files(parquet.schema_of(earlier), 1, prefix)
        if self._rows is not None:
            self._table(self._rows)

    def kept(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yields the results of a shard, and keeps them without the bytes of their images."""
        self._results = []
        for result in results:
            if self._rows is None and not self._results:  # The names are wrong before a shard is fetched.
                self._table(_row_table.inferred([result]))
            yield result
            empty = [replace(thumbnail, data=b"") for thumbnail in result.thumbnails[:1]]
            self._results.append(replace(result, thumbnails=tuple(empty), original=None))

    def write(self, file: IO[bytes]) -> None:
        """Writes the results that were kept."""
        if self._rows is None:
            self._rows = _row_table.inferred(self._results)
        table = self._table(self._rows)
        parquet.write_file(file, _arrow.batches(self._results, table.schema, table.values), table.schema)

    def _table(self, rows: Any) -> RowTable:
        return RowTable.of(rows, self._url_col, 1, self._prefix).without(self._prefix + "thumbnail")
