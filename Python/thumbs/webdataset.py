"""Writes results as a WebDataset: tar files with an image and its description per sample."""
from __future__ import annotations

import io
import json
import tarfile
from typing import IO, Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple

from . import _redaction, _shards, _values
from ._files import PathLike, new_directory, replacing
from ._run import Run
from .counters import Counters
from .result import Result

PATTERN = "*.tar"
FAILED = "failed.jsonl"
EXTENSIONS = {"jpeg": "jpg"}


def write(
    results: Iterable[Result], path: PathLike, *, caption_col: Optional[str] = None, shard_rows: int = 10_000,
    shard_bytes: int = 1 << 30,
) -> Counters:
    """Writes all results to the directory `path`, as `00000.tar` and so on, and returns their counters.

    Each row with thumbnails is a sample. Its key is its position in the input, such as `000000012`, and its members are
    `000000012.jpg`, or `000000012.64x64.jpg` and so on if it has several sizes, and `000000012.json` with the fields of
    the report and, in `row`, the row as far as JSON can hold it. With `caption_col`, `000000012.txt` has the caption.
    The format is JPEG, unless the run has another one: loaders expect the same members in every sample.

    Rows without thumbnails are lines in `failed.jsonl`, with the same fields. User and password of URLs, and the values
    of the row's `headers`, are replaced by `***`.

    A file gets its name when it is complete, so every file is valid, even after a kill. An error of `results` is raised
    when the results before it are in complete files.

    Args:
        results: The results of `thumbs.run`.
        path: A directory, which is created. It may not have such files yet, and no other process may write there.
        caption_col: The column of the rows with a caption. A row without one has an empty caption.
        shard_rows: The largest number of samples in a file.
        shard_bytes: A file with more bytes of thumbnails gets no further samples.

    Raises:
        FileExistsError: `path` has such files, or another process is writing there.

    >>> thumbs.webdataset.write(thumbs.run(urls), "dataset")
    """
    counters = Counters()
    if isinstance(results, Run):
        results.prefer_format("jpeg")
    with new_directory(path, PATTERN, FAILED) as folder, _shards.until_error(results) as rows, \
            replacing(folder / FAILED) as failed:
        samples = _successful(rows, counters, failed)
        for number, shard in enumerate(_shards.groups(samples, shard_rows, shard_bytes)):
            with replacing(folder / f"{number:05}.tar") as file:
                _write_shard(file, shard, caption_col)
    return counters


def _successful(results: Iterable[Result], counters: Counters, failed: IO[bytes]) -> Iterator[Result]:
    """Yields results with thumbnails, and writes the others to `failed`."""
    for result in results:
        counters.add(result)
        if result.ok:
            yield result
        else:
            failed.write(_description(result) + b"\n")


def _write_shard(file: IO[bytes], results: Iterable[Result], caption_col: Optional[str]) -> None:
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for result in results:
            for extension, data in _members(result, caption_col):
                member = tarfile.TarInfo(f"{result.index:09}.{extension}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def _members(result: Result, caption_col: Optional[str]) -> Iterator[Tuple[str, bytes]]:
    for thumbnail in result.thumbnails:
        extension = EXTENSIONS.get(thumbnail.format, thumbnail.format)
        yield (extension if len(result.thumbnails) == 1 else f"{thumbnail.spec}.{extension}"), thumbnail.data
    if caption_col is not None:
        yield "txt", _caption(result, caption_col)
    yield "json", _description(result)


def _caption(result: Result, column: str) -> bytes:
    value = _values.native(result.row.get(column)) if isinstance(result.row, Mapping) else None
    return b"" if value is None else _redaction.text(str(value)).encode("utf-8", "replace")


def _description(result: Result) -> bytes:
    report: Dict[str, Any] = {name: value for name, value in result.report.items() if name not in ("id", "bodies")}
    row = _redaction.row(result.row, result.url)
    return json.dumps({**_redaction.plain(report), "index": result.index, "row": row}, allow_nan=False).encode()
