"""Tests of tables and files as rows."""
from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import thumbs

pytestmark = pytest.mark.usefixtures("stand_in")
ROWS = [
    {"link": f"http://a.example/{number}.jpg", "caption": f"Number {number}", "day": datetime.date(2026, 1, number + 1),
     "size": 1200}
    for number in range(5)
]


def pandas_frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(ROWS)


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(ROWS)


def arrow_table() -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)


def arrow_batch() -> Any:
    return arrow_table().to_batches()[0]


def arrow_reader() -> Any:
    return arrow_table().to_reader(max_chunksize=2)


def arrow_dataset() -> Any:
    return pytest.importorskip("pyarrow.dataset").dataset(arrow_table())


def generator() -> Any:
    return (dict(row) for row in ROWS)


@pytest.mark.parametrize("make", [
    pandas_frame, polars_frame, arrow_table, arrow_batch, arrow_reader, arrow_dataset, generator])
def test_the_rows_of_a_table_are_mappings(make: Callable[[], Any]) -> None:
    results = sorted(thumbs.run(make(), url_col="link"), key=lambda result: result.index)
    assert [dict(result.row) for result in results] == ROWS
    assert all(result.ok for result in results)


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, arrow_dataset])
@pytest.mark.parametrize("arguments", [{}, {"url_col": "link", "columns": {"size": "thumb"}}])
def test_a_table_without_a_column_raises_at_once(make: Callable[[], Any], arguments: Dict[str, Any]) -> None:
    missing = "thumb" if arguments else "url"
    with pytest.raises(ValueError, match=f"no column '{missing}'; there are 'link', 'caption', 'day', 'size'"):
        thumbs.run(make(), **arguments)


def test_a_series_of_urls_is_rows() -> None:
    urls = [row["link"] for row in ROWS]
    for series in (pandas_frame()["link"], polars_frame()["link"], arrow_table()["link"]):
        assert [result.url for result in thumbs.run(series)] == urls


@pytest.mark.parametrize("rows", [7, None, 1.5, object()])
def test_something_without_rows_raises_at_once(rows: Any) -> None:
    with pytest.raises(TypeError, match="has no rows"):
        thumbs.run(rows)


def test_a_frame_that_is_not_computed_raises_with_the_remedy() -> None:
    with pytest.raises(TypeError, match="collect"):
        thumbs.run(polars_frame().lazy())


def test_a_frame_with_a_name_twice_raises() -> None:
    frame = pandas_frame()
    frame.columns = ["link", "caption", "caption", "size"]
    with pytest.raises(ValueError, match="different names"):
        thumbs.run(frame, url_col="link")


def lines(rows: Any, log: Path, **arguments: Any) -> List[Any]:
    import json

    list(thumbs.run(rows, log_rows=log, **arguments))
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_column_has_a_meaning_only_if_it_is_mapped(tmp_path: Path) -> None:
    row = {"url": "http://a.example/x.jpg", "size": 1200, "priority": 3, "headers": "x", "thumb": 64}
    assert lines([row], tmp_path / "a") == [{"id": 0, "url": row["url"]}]
    assert lines([row], tmp_path / "b", columns={"size": "thumb"}) == [{"id": 0, "size": 64, "url": row["url"]}]
    assert lines([row], tmp_path / "c", columns=["size"])[0]["size"] == 1200


@pytest.mark.parametrize("columns, error", [
    (["colour"], ValueError), ({"url": "x"}, ValueError), ("size", TypeError)])
def test_a_meaning_that_there_is_not_raises_at_once(columns: Any, error: Any) -> None:
    with pytest.raises(error, match="columns"):
        thumbs.run(ROWS, columns=columns)


def test_numbers_of_other_libraries_and_missing_values_are_those_of_json(tmp_path: Path) -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    values = [numpy.int64(64), numpy.float32(64), 64.0, numpy.array([64, 32]), float("nan"), pandas.NA, pandas.NaT,
              None]
    rows = [{"url": "http://a.example/x.jpg", "size": value} for value in values]
    found = lines(rows, tmp_path / "log", columns=["size"])
    assert [line.get("size") for line in found] == [64, 64, 64, [64, 32], None, None, None, None]


@pytest.mark.parametrize("row, message", [
    ({}, "no column 'url'; it has none"), ({"link": 1, "x": 2}, "no column 'url'; it has 'link', 'x'"),
    ({"url": None}, "'url' of the row is empty"), ({"url": float("nan")}, "'url' of the row is empty"),
    ({"url": "x", "name": {1}}, "'name' of the row"), (7, "type int"),
])
def test_the_message_of_a_bad_row_names_the_column(row: Any, message: str) -> None:
    [result] = thumbs.run([row], columns=["name"])
    assert (result.code, message in (result.message or "")) == ("bad_row", True)


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl"])
def test_a_file_is_read_by_its_ending(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet").write_table(arrow_table(), tmp_path / "list.parquet")
    frame = pandas_frame()
    frame.to_csv(tmp_path / "list.csv", index=False)
    frame.to_csv(tmp_path / "list.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "list.jsonl", orient="records", lines=True)
    results = list(thumbs.run(thumbs.read(tmp_path / f"list.{ending}"), url_col="link"))
    assert [result.row["caption"] for result in results] == [row["caption"] for row in ROWS]
    assert all(result.ok for result in results)


def test_a_file_of_lines_has_urls(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\ufeffhttp://a.example/1.jpg\r\n\n  http://a.example/2.jpg\n")
    assert [result.url for result in thumbs.run(thumbs.read(tmp_path / "list.txt"))] == [
        "http://a.example/1.jpg", "http://a.example/2.jpg"]


def test_a_file_with_another_ending_raises(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=".xlsx has none of the endings"):
        thumbs.read("list.xlsx")


@pytest.mark.parametrize("form", [None, "arrow", "numpy", "pandas"])
@pytest.mark.parametrize("streams", [False, True])
def test_a_data_set_of_the_package_datasets_has_rows_in_any_format(form: Any, streams: bool) -> None:
    datasets = pytest.importorskip("datasets")
    columns = {"url": [f"http://a.test/{number}.png" for number in range(30)], "score": [0.5, None, 1.5] * 10}
    rows = datasets.Dataset.from_dict(columns).with_format(form)
    if streams:
        rows = rows.to_iterable_dataset()
    results = sorted(thumbs.run(rows), key=lambda result: result.index)
    assert [result.ok for result in results] == [True] * 30
    assert [result.row["score"] for result in results] == columns["score"]


def test_several_data_sets_are_refused_by_name() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.DatasetDict(train=datasets.Dataset.from_dict({"url": ["http://a.test/1"]}))
    with pytest.raises(TypeError, match="DatasetDict with several data sets; pass one of them"):
        thumbs.run(rows)
