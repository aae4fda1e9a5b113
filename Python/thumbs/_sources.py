"""Tables of other libraries, and files, as rows. Nothing is imported that the program has not imported itself."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional

CHUNK_ROWS = 4096


@dataclass(frozen=True)
class Source:
    """Rows, and what is known about their columns."""

    rows: Iterable  # type: ignore[type-arg]
    names: Optional[List[str]] = None
    """The names of the columns; None if each row may have others."""
    schema: Optional[Callable[[], Any]] = None
    """Returns the Arrow schema of the columns."""


def source(rows: Any) -> Source:
    """Returns the source of the argument `rows` of a run. Raises `TypeError` if it cannot have rows."""
    library, name = type(rows).__module__.partition(".")[0], type(rows).__name__
    if library == "pandas" and name == "DataFrame":
        return _pandas(rows)
    if library == "polars" and name == "LazyFrame":
        raise TypeError("rows is a LazyFrame of polars, whose rows are not computed yet; pass rows.collect().")
    if library == "polars" and name == "DataFrame":
        return Source(rows.iter_rows(named=True), list(rows.columns), lambda: rows.head(0).to_arrow().schema)
    if library == "datasets" and isinstance(rows, Mapping):
        raise TypeError(f"rows is a {name} with several data sets; pass one of them, such as rows[\"train\"].")
    if library == "datasets" and hasattr(rows, "with_format"):
        rows = rows.with_format(None)  # With another format, a row is an array, or a table.
        features = rows.features
        return Source(rows, list(features), lambda: features.arrow_schema) if features else Source(rows)
    if library == "pyarrow":
        return _arrow(rows)
    return Source(_checked(rows))


def read(path: Any) -> Source:
    """Returns the rows of a file, by the ending of its name: `.parquet`, `.csv`, `.tsv`, `.jsonl` or `.txt`.

    A list in text has a URL in each line. All but `.txt` need pyarrow. Pass the result to `thumbs.run`.

    Raises:
        ValueError: The name has another ending.
        OSError: The file cannot be read.

    >>> thumbs.run(thumbs.read("list.parquet"), url_col="link")
    """
    path, ending = Path(path), Path(path).suffix.lower()
    if ending == ".txt":
        return Source(_lines(path))
    names = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
    if ending not in names:
        raise ValueError(f"{path} has none of the endings .parquet, .csv, .tsv, .jsonl and .txt.")
    import pyarrow.csv
    import pyarrow.dataset

    tabs = pyarrow.dataset.CsvFileFormat(parse_options=pyarrow.csv.ParseOptions(delimiter="\t"))
    return _arrow(pyarrow.dataset.dataset(path, format=tabs if ending == ".tsv" else names[ending]))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8-sig") as file:
        yield from filter(None, map(str.strip, file))


def _pandas(frame: Any) -> Source:
    names = list(frame.columns)
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"The columns of the DataFrame need different names, all texts; they are {names!r:.300}.")

    def rows() -> Iterator[Any]:
        for start in range(0, len(frame), CHUNK_ROWS):
            yield from frame.iloc[start:start + CHUNK_ROWS].to_dict("records")

    def schema() -> Any:
        import pyarrow

        return pyarrow.Schema.from_pandas(frame, preserve_index=False).remove_metadata()

    return Source(rows(), names, schema)


def _arrow(table: Any) -> Source:
    """Returns the rows of a table, a batch, a reader of batches, or a data set. An array has URLs."""
    schema = getattr(table, "schema", None)
    if schema is None:
        return Source(_checked(table.to_pylist() if hasattr(table, "to_pylist") else table))
    if hasattr(table, "columns"):
        batches = table.to_batches(CHUNK_ROWS) if hasattr(table, "to_batches") else [table]
    else:
        batches = table.to_batches() if hasattr(table, "to_batches") else table
    return Source((row for batch in batches for row in batch.to_pylist()), list(schema.names), lambda: schema)


def _checked(rows: Any) -> Iterable:  # type: ignore[type-arg]
    if isinstance(rows, (str, bytes, Mapping)):
        raise TypeError(f"rows is of type {type(rows).__name__}, not several rows; put a single one into a list")
    if not isinstance(rows, Iterable):
        raise TypeError(f"rows is of type {type(rows).__name__}, which has no rows.")
    if hasattr(rows, "__dataframe__") or hasattr(rows, "toPandas"):
        raise TypeError(f"rows is of type {type(rows).__name__}, whose rows are unknown; pass a table of Arrow.")
    return rows
