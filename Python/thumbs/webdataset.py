"""Writes results as a WebDataset: tar files with an image and its description per sample."""
from __future__ import annotations

import io
import itertools
import json
import tarfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import (
    IO, TYPE_CHECKING, Any, ContextManager, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple,
)

from . import _redaction, _shards
from ._files import Folder, Mode, PathLike, directory
from ._finished import Finished, stored_url, without
from ._rows import native
from ._run import Run
from .counters import Counters
from .result import Result

if TYPE_CHECKING:
    from ._shard_table import ShardTable

PATTERN = "[0-9]*.tar"
ROWS = "[0-9]*.jsonl"
STATISTICS = "[0-9]*_stats.json"
TABLES = "[0-9][0-9][0-9][0-9][0-9].parquet"
EXTENSIONS = {"jpeg": "jpg"}


def write(
    results: Iterable[Result], path: PathLike, *, caption_col: Optional[str] = None, mode: Mode = "error",
    tables: bool = False, row_schema: Optional[Any] = None, prefix: str = "", shard_rows: int = 10_000,
    shard_bytes: int = 1 << 30, storage_options: Optional[Mapping[str, Any]] = None,
) -> Counters:
    """Writes all results to the directory `path`, as `00000.tar` and so on, and returns their counters.

    Each row with thumbnails is a sample. Its key is its position in the input, such as `000000012`, and its members are
    `000000012.jpg`, or `000000012.64x64.jpg` and so on if it has several sizes, `000000012.original.jpg` (or another
    format) if the run has `original=True`, and `000000012.json` with the fields of the report and, in `row`, the row as
    far as JSON can hold it. With `caption_col`, `000000012.txt` has the caption.
    The format is JPEG, unless the run has another one: loaders expect the same members in every sample.

    Next to each tar file, `00000.jsonl` has a line for every row of the shard, also for those that failed, with the
    same fields, and `00000_stats.json` has its counters. With `tables`, `00000.parquet` has the same rows. User and
    password of URLs, and the values of the row's `headers`, are replaced by `***`.

    A file gets its name when it is complete, and the counters come last, so a shard with counters is complete, even
    after a kill. An error of `results` is raised when the results before it are in complete shards.

    Args:
        results: The results of `thumbs.run`.
        path: A directory, which is created, or a URL of one, such as `s3://bucket/images`, for which fsspec and the
            package of the scheme must be installed. No other process may write there.
        caption_col: The column of the rows with a caption. A row without one has an empty caption.
        mode: `error` if the directory may have no such files yet; `continue` if the rows of complete shards are left
            out, and not fetched again; or `overwrite`, which replaces the directory when everything is written; that
            of a URL, file by file.
        tables: True for a Parquet file per shard with the columns of `thumbs.parquet`, except the thumbnails. Needs
            pyarrow.
        row_schema, prefix: As in `thumbs.parquet.write`, for the tables.
        shard_rows: The largest number of rows in a shard.
        shard_bytes: A shard with more bytes of thumbnails gets no further rows.
        storage_options: Options of the file system of a URL, such as `{"endpoint_url": "http://127.0.0.1:9000"}`.

    Raises:
        FileExistsError: `path` has such files, or others that would be overwritten, or another process writes there.
        ValueError: The shards that are continued are those of other rows.

    >>> thumbs.webdataset.write(thumbs.run(urls), "dataset")
    """
    counters, url_col, given = Counters(), getattr(results, "url_col", "url"), results
    if isinstance(results, Run):
        results.prefer_format("jpeg")
    with directory(path, mode, PATTERN, ROWS, STATISTICS, TABLES, storage_options=storage_options) as folder:
        shards = _complete(folder)
        if shards:
            results = without(results, _finished(folder, shards, url_col))
        numbers = itertools.count(_number(shards[-1]) + 1 if shards else 0)
        table = _table(folder, row_schema or getattr(given, "row_schema", None), url_col, prefix) if tables else None
        with _shards.until_error(_shards.counted(results, counters)) as rows:
            for number, shard in zip(numbers, _shards.groups(rows, shard_rows, shard_bytes)):
                _Shard(folder, number, caption_col, url_col, table).write(shard)
    return counters


def _table(folder: Folder, schema: Any, url_col: str, prefix: str) -> ShardTable:
    from . import _row_table  # Both import pyarrow, which only tables need.
    from ._shard_table import ShardTable

    rows = _row_table.known(schema) if callable(schema) else schema
    earlier = next(iter(folder.names(TABLES)), None)
    return ShardTable(rows, url_col, prefix, folder.open(earlier) if earlier else None)


def _complete(folder: Folder) -> List[str]:
    """Returns the names of the counters of complete shards in order, and deletes what there is of others."""
    complete = sorted(folder.names(STATISTICS), key=_number)
    numbers, unfinished = set(map(_number, complete)), set(folder.names(ROWS))
    for pattern in (TABLES, PATTERN, ROWS):
        for name in folder.names(pattern):
            # A table comes after the rows, so one alone is not of this package.
            is_ours = pattern != TABLES or f"{_number(name):05}.jsonl" in unfinished
            if _number(name) not in numbers and is_ours:
                folder.delete(name)
    return complete


def _finished(folder: Folder, shards: Sequence[str], url_col: str) -> Finished:
    finished = Finished(url_col)
    for shard in shards:
        with folder.open(f"{_number(shard):05}.jsonl") as lines:
            for line in lines:
                row = json.loads(line)
                finished.add(row["index"], row["url"])
    return finished


def _number(name: str) -> int:
    return int(name.partition(".")[0].partition("_")[0])


@dataclass(frozen=True)
class _Shard:
    """The files of a shard."""

    folder: Folder
    number: int
    caption_col: Optional[str]
    url_col: str
    table: Optional[ShardTable]

    def write(self, results: Iterable[Result]) -> None:
        """Writes all files. The counters are last, because they mark a shard as complete."""
        counters = Counters()
        if self.table is not None:
            results = self.table.kept(results)
        with self._file(".jsonl") as lines, ExitStack() as stack:
            archive: Optional[tarfile.TarFile] = None
            for result in _shards.counted(results, counters):
                description = self._description(result)
                lines.write(description + b"\n")
                if result.ok:  # A shard without samples has no tar file, which no loader could read.
                    archive = archive or self._archive(stack)
                    self._add(archive, result, description)
        if self.table is not None:
            with self._file(".parquet") as file:
                self.table.write(file)
        with self._file("_stats.json") as file:
            file.write(json.dumps(asdict(counters), indent=1).encode())

    def _file(self, ending: str) -> ContextManager[IO[bytes]]:
        return self.folder.replacing(f"{self.number:05}{ending}")

    def _archive(self, stack: ExitStack) -> tarfile.TarFile:
        file = stack.enter_context(self._file(".tar"))
        return stack.enter_context(tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT))

    def _add(self, archive: tarfile.TarFile, result: Result, description: bytes) -> None:
        for extension, data in [*self._images(result), ("json", description)]:
            member = tarfile.TarInfo(f"{result.index:09}.{extension}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

    def _images(self, result: Result) -> Iterator[Tuple[str, bytes]]:
        for thumbnail in result.thumbnails:
            extension = EXTENSIONS.get(thumbnail.format, thumbnail.format)
            yield (extension if len(result.thumbnails) == 1 else f"{thumbnail.spec}.{extension}"), thumbnail.data
        if result.original is not None:
            yield f"original.{EXTENSIONS.get(str(result.format), result.format)}", result.original
        if self.caption_col is not None:
            yield "txt", _caption(result, self.caption_col)

    def _description(self, result: Result) -> bytes:
        report = {name: value for name, value in result.report.items() if name not in ("id", "bodies")}
        fields: Dict[str, Any] = {
            **_redaction.plain(report), "index": result.index, "url": stored_url(result.row, self.url_col, result.url),
            "row": _redaction.row(result.row, result.url),
        }
        return json.dumps(fields, allow_nan=False).encode()


def _caption(result: Result, column: str) -> bytes:
    value = native(result.row.get(column)) if isinstance(result.row, Mapping) else None
    return b"" if value is None else _redaction.text(str(value)).encode("utf-8", "replace")
