"""The outcome of one row."""
from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from ._exif import exif_of

Data = bytes  # `Result.bytes` hides the name of the type.


@dataclass(frozen=True)
class Thumbnail:
    """One rendered output."""

    spec: str
    """The size as in the options, such as `256x256`."""
    width: int
    """The width in pixels."""
    height: int
    """The height in pixels."""
    format: str
    """`jpeg`, `png`, `webp`, `avif` or `gif`."""
    data: bytes = field(repr=False)
    """The encoded file."""


@dataclass(frozen=True)
class Result:
    """The outcome of one row.

    A row that failed has a `code`, a `message` and no thumbnails. `status`, `code`, `retryable` and `origin` have the
    values that Documentation/formats.md lists; None stands for a field that the report lacks.
    """

    index: int
    """The position of the row in the input, from 0. Results are in order of completion."""
    row: Any = field(repr=False)
    """The row itself, as it was passed to `run`."""
    url: Optional[str]
    """The URL of the row, without user and password."""
    status: str
    """`ok`, `failed` or `cancelled`."""
    code: Optional[str]
    """The cause of a failure, such as `http_404`."""
    retryable: bool
    """True if a retry may succeed."""
    http: Optional[int]
    """The status of the last response."""
    final_url: Optional[str]
    """The URL after redirects, if there were any."""
    origin: Optional[str]
    """The place the image came from: `network`, `revalidated`, `disk`, `memory`, `remote`, `stale` or `file`."""
    width: Optional[int]
    """The width of the downloaded image in pixels."""
    height: Optional[int]
    """The height of the downloaded image in pixels."""
    format: Optional[str]
    """The format of the downloaded image."""
    bytes: Optional[int]
    """The length of the downloaded image."""
    thumbnails: Tuple[Thumbnail, ...]
    """The thumbnails, one per size, in the order of the sizes."""
    original: Optional[Data] = field(repr=False)
    """The downloaded file as it is, with `original=True`; None without it, and if the row failed."""
    attempts: int
    """The number of attempts for this row, retries included; 0 if it came from the cache."""
    ms: Optional[int]
    """Milliseconds in the queue, the download and the rendering together."""
    message: Optional[str]
    """A sentence for people about the failure; its wording may change."""
    report: Mapping[str, Any] = field(repr=False)
    """All fields of the report line of this row."""

    @property
    def ok(self) -> bool:
        """True if the row has its thumbnails."""
        return self.status == "ok"

    @property
    def exif(self) -> Dict[str, str]:
        """The EXIF metadata of the downloaded file by their names, such as `Make`, with those about its place; empty
        without any. Needs `original=True` and the package Pillow, which reads only the metadata."""
        return {} if self.original is None else exif_of(self.original)

    @property
    def placeholder(self) -> Optional[Mapping[str, str]]:
        """`thumbhash` and `color`, as in the report; None if the row failed, or without `placeholders=True`."""
        return self.report.get("placeholder")

    @property
    def phash(self) -> Optional[str]:
        """The perceptual hash as 16 hexadecimal digits, as in the report; None if the row failed, or without
        `phash=True`. The distance of two is `bin(int(a, 16) ^ int(b, 16)).count("1")`."""
        return self.report.get("phash")

    @property
    def thumbnail(self) -> Optional[Data]:
        """The encoded file of the first size; None if the row failed."""
        return self.thumbnails[0].data if self.thumbnails else None

    def __hash__(self) -> int:
        return hash((self.index, self.url, self.status))

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        """Returns what a notebook shows: the thumbnails, or the failure."""
        parts = [_image(thumbnail) for thumbnail in self.thumbnails]
        if not self.ok:
            parts.append(html.escape(f"{self.code or self.status}: {self.message or ''}"))
        caption = f"<small>{html.escape(self.url or '')}</small>"
        return {"text/plain": repr(self), "text/html": f"<div>{' '.join(parts)}<br>{caption}</div>"}


def _image(thumbnail: Thumbnail) -> str:
    data = base64.b64encode(thumbnail.data).decode()
    return f'<img src="data:image/{thumbnail.format};base64,{data}" width="{thumbnail.width}" alt="{thumbnail.spec}">'


def from_report(index: int, row: Any, report: Mapping[str, Any], bodies: Sequence[bytes]) -> Result:
    """Returns the result for a report line and the encoded thumbnails of its `outputs`."""
    source = report.get("source") or {}
    times = report.get("ms")
    outputs = report.get("outputs") or ()
    return Result(
        index=index, row=row, url=report.get("url"), status=report["status"], code=report.get("code"),
        retryable=bool(report.get("retryable", False)), http=report.get("http"), final_url=report.get("finalURL"),
        origin=report.get("origin"), width=source.get("width"), height=source.get("height"),
        format=source.get("format"), bytes=source.get("bytes"),
        thumbnails=tuple(
            Thumbnail(output["spec"], output["width"], output["height"], output["format"], body)
            for output, body in zip(outputs, bodies)),
        original=bodies[-1] if report.get("original") else None,
        attempts=report.get("attempts", 0), ms=None if times is None else sum(times.values()),
        message=report.get("message"), report=report)


def bad_row(index: int, row: Any, reason: str) -> Result:
    """Returns the result for a row that cannot be sent to the worker."""
    report = {"index": index, "status": "failed", "code": "bad_row", "retryable": False, "attempts": 0,
              "message": reason}
    return from_report(index, row, report, ())
