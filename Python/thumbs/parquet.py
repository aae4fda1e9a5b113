"""Writes results to Parquet files on this machine. Needs pyarrow."""
from __future__ import annotations

from itertools import chain
from typing import Any, Iterable, Iterator, List, Optional, Tuple

import pyarrow.parquet

from . import _arrow, _command, _row_table, _shards
from ._files import PathLike, new_directory, replacing
from ._row_table import RowTable
from .counters import Counters
from .result import Result

PATTERN = "part-*.parquet"
COMPRESSION = "zstd"


def write(
    results: Iterable[Result], path: PathLike, *, sizes: _command.Sizes = None, row_schema: Optional[Any] = None,
    prefix: str = "", shard_rows: int = 100_000, shard_bytes: int = 1 << 30, compression: str = COMPRESSION,
) -> Counters:
    """Writes all results to the directory `path`, as `part-00000.parquet` and so on, and returns their counters.

    A file gets its name when it is complete, so every file is valid, even after a kill. An error of `results` is raised
    when the results before it are in a complete file.

    The columns are `index` (the position of the row), `url` (without user and password), the columns of the rows, and
    those of the results. The rows of a table keep their types; those of other rows are the types of the first 1,000
    values, and a column with several types has texts in JSON.

    Args:
        results: The results of `thumbs.run`.
        path: A directory, which is created. It may not have such files yet, and no other process may write there.
        sizes: The sizes of the run. With several, the table has a list `thumbnails` in place of `thumbnail`. The list
            is needed, too, if a row has a `size` with several.
        row_schema: The Arrow schema of the columns of the rows. Columns that it lacks are left out.
        prefix: Goes before the names of the columns of the results, in case the rows have columns of these names.
        shard_rows: The largest number of rows in a file.
        shard_bytes: A file with more bytes of thumbnails gets no further rows.
        compression: The codec of Parquet. Thumbnails hardly become smaller, all other columns do.

    Raises:
        FileExistsError: `path` has such files, or another process is writing there.
        ValueError: A row has several thumbnails, but the table has a column for one; a column of the rows has the name
            of one of the results; or a value is not of the type of its column.

    >>> results = thumbs.run(urls, sizes=[64, 256])
    >>> thumbs.parquet.write(results, "thumbnails", sizes=[64, 256])
    """
    counters, count = Counters(), len(_command.size_list(sizes))
    if row_schema is None:
        row_schema = _row_table.known(getattr(results, "row_schema", None))
    url_col = getattr(results, "url_col", "url")
    if row_schema is not None:  # Its columns are checked before the first request.
        RowTable.of(row_schema, url_col, count, prefix)
    fitting = _arrow.fitting(_counted(results, counters), is_single=count < 2)
    with new_directory(path, PATTERN) as folder, _shards.until_error(fitting) as rows:
        first, rows = _begin(rows)
        table = RowTable.of(_row_table.inferred(first) if row_schema is None else row_schema, url_col, count, prefix)
        for number, shard in enumerate(_shards.groups(rows, shard_rows, shard_bytes)):
            with replacing(folder / f"part-{number:05}.parquet") as file:
                write_file(file, _arrow.batches(shard, table.schema, table.values), table.schema, compression)
        if counters.rows == 0:  # Even an empty table has its columns.
            with replacing(folder / "part-00000.parquet") as file:
                write_file(file, (), table.schema, compression)
    return counters


def _begin(results: Iterator[Result]) -> Tuple[List[Result], Iterator[Result]]:
    """Returns the results of the first batch, and all results."""
    first = list(next(_shards.groups(results, _arrow.BATCH_ROWS, _arrow.BATCH_BYTES), ()))
    return first, chain(first, results)


def write_file(file: Any, batches: Iterable[Any], table: Any, compression: str = COMPRESSION) -> None:
    """Writes record batches with the schema `table` to an open file."""
    with pyarrow.parquet.ParquetWriter(file, table, compression=compression) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _counted(results: Iterable[Result], counters: Counters) -> Iterator[Result]:
    for result in results:
        counters.add(result)
        yield result
