"""Writes results to Parquet files. Needs pyarrow."""
from __future__ import annotations

import itertools
from pathlib import PurePath
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

try:
    import pyarrow.parquet
except ImportError as error:
    raise ImportError("thumbs.parquet needs the Python package pyarrow: pip install pyarrow") from error

from . import _arrow, _command, _row_table, _shards
from ._files import Folder, Mode, PathLike, directory
from ._finished import Finished, without
from ._row_table import RowTable
from .counters import Counters
from .result import Result

PATTERN = "part-*.parquet"
COMPRESSION = "zstd"


def write(
    results: Iterable[Result], path: PathLike, *, sizes: _command.Sizes = None, row_schema: Optional[Any] = None,
    prefix: str = "", mode: Mode = "error", shard_rows: int = 100_000, shard_bytes: int = 1 << 30,
    compression: str = COMPRESSION, original: bool = False, storage_options: Optional[Mapping[str, Any]] = None,
) -> Counters:
    """Writes all results to the directory `path`, as `part-00000.parquet` and so on, and returns their counters.

    A file gets its name when it is complete, so every file is valid, even after a kill. An error of `results` is raised
    when the results before it are in a complete file.

    The columns are `index` (the position of the row), `url` (without user and password), the columns of the rows, and
    those of the results. The rows of a table keep their types; those of other rows are the types of the first 1,000
    values, and a column with several types has texts in JSON.

    Args:
        results: The results of `thumbs.run`.
        path: A directory, which is created, or a URL of one, such as `s3://bucket/images`, for which fsspec and the
            package of the scheme must be installed. No other process may write there.
        sizes: The sizes of the run. With several, the table has a list `thumbnails` in place of `thumbnail`. The list
            is needed, too, if a row has a `size` with several.
        row_schema: The Arrow schema of the columns of the rows. Columns that it lacks are left out.
        prefix: Goes before the names of the columns of the results, in case the rows have columns of these names.
        mode: `error` if the directory may have no such files yet; `continue` if the rows in them are left out, and not
            fetched again; or `overwrite`, which replaces the directory when everything is written; that of a URL,
            file by file.
        shard_rows: The largest number of rows in a file.
        shard_bytes: A file with more bytes of thumbnails gets no further rows.
        compression: The codec of Parquet. Thumbnails hardly become smaller, all other columns do.
        original: True for a column `original` with the downloaded files, if the run has `original=True`.
        storage_options: Options of the file system of a URL, such as `{"endpoint_url": "http://127.0.0.1:9000"}`.

    Raises:
        FileExistsError: `path` has such files, or others that would be overwritten, or another process writes there.
        ValueError: A row has several thumbnails, but the table has a column for one; a column of the rows has the name
            of one of the results; a value is not of the type of its column; or the files that
            are continued are those of other rows or sizes.

    >>> results = thumbs.run(urls, sizes=[64, 256])
    >>> thumbs.parquet.write(results, "thumbnails", sizes=[64, 256])
    """
    counters, count = Counters(), len(_command.size_list(sizes))
    if row_schema is None:
        row_schema = _row_table.known(getattr(results, "row_schema", None))
    url_col = getattr(results, "url_col", "url")
    if row_schema is not None:  # Its columns are checked before the first request.
        RowTable.of(row_schema, url_col, count, prefix, original)
    with directory(path, mode, PATTERN, storage_options=storage_options) as folder:
        files = _files(folder)
        written = None
        if files:
            with folder.open(files[0]) as file:
                written = schema_of(file)
        if written is not None:
            row_schema = _row_table.of_files(written, count, prefix, original)
            results = without(results, _finished(folder, files, url_col, prefix))
        fitting = _arrow.fitting(_shards.counted(results, counters), is_single=count < 2)
        with _shards.until_error(fitting) as rows:
            if row_schema is None:
                first, rows = _begin(rows, shard_rows)
                row_schema = _row_table.inferred(first)
            table = RowTable.of(row_schema, url_col, count, prefix, original)
            if written is not None and written.names != table.schema.names:
                raise ValueError(f"{folder}/{files[0]} has other columns than the new files would have; continue with "
                                 "the same sizes and the same prefix.")
            names = (f"part-{number:05}.parquet" for number in itertools.count(_next_number(files)))
            for name, shard in zip(names, _shards.groups(rows, shard_rows, shard_bytes)):
                with folder.replacing(name) as file:
                    write_file(file, _arrow.batches(shard, table.schema, table.values), table.schema, compression)
            if not files and counters.rows == 0:  # Even an empty table has its columns.
                with folder.replacing(next(names)) as file:
                    write_file(file, (), table.schema, compression)
    return counters


def _files(folder: Folder) -> List[str]:
    """Returns the files in order. One without rows does not know their columns, so it is deleted."""
    names = folder.names(PATTERN)
    for name in names:
        with folder.open(name) as file:
            is_empty = pyarrow.parquet.ParquetFile(file).metadata.num_rows == 0
        if is_empty:
            folder.delete(name)
    return folder.names(PATTERN) if names else names


def schema_of(file: Any) -> Any:
    """Returns the schema of an open file."""
    return pyarrow.parquet.read_schema(file)


def _begin(results: Iterator[Result], most: int) -> Tuple[List[Result], Iterator[Result]]:
    """Returns the results of the first batch, at most those of a file, and all results."""
    first = list(next(_shards.groups(results, min(most, _arrow.BATCH_ROWS), _arrow.BATCH_BYTES), ()))
    return first, itertools.chain(first, results)


def _finished(folder: Folder, files: Sequence[str], url_col: str, prefix: str) -> Finished:
    """Returns the rows of the files."""
    finished, names = Finished(url_col), [prefix + "index", prefix + "url"]
    for name in files:
        with folder.open(name) as file:
            table = pyarrow.parquet.ParquetFile(file)
            missing = set(names).difference(table.schema_arrow.names)
            if missing:
                raise ValueError(f"{folder}/{name} has no column {min(missing)!r}, so it cannot be continued.")
            for batch in table.iter_batches(columns=names):
                for index, url in zip(batch.column(names[0]).to_pylist(), batch.column(names[1]).to_pylist()):
                    finished.add(index, url)
    return finished


def _next_number(files: Sequence[str]) -> int:
    return int(PurePath(files[-1]).stem.partition("-")[2]) + 1 if files else 0


def write_file(file: Any, batches: Iterable[Any], table: Any, compression: str = COMPRESSION) -> None:
    """Writes record batches with the schema `table` to an open file."""
    with pyarrow.parquet.ParquetWriter(file, table, compression=compression) as writer:
        for batch in batches:
            writer.write_batch(batch)
