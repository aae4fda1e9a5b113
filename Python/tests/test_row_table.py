"""Tests of Parquet files with the columns of the rows."""
from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path
from typing import Any, Dict, List

import pytest

import thumbs

pa = pytest.importorskip("pyarrow")
import pyarrow.dataset  # noqa: E402

import thumbs.parquet  # noqa: E402

pytestmark = pytest.mark.usefixtures("stand_in")
URL = "http://a.example/{}.jpg"


def written(results: Any, folder: Path, **arguments: Any) -> Any:
    thumbs.parquet.write(results, folder, **arguments)
    return pyarrow.dataset.dataset(folder).to_table().sort_by(arguments.get("prefix", "") + "index")


COLUMNS: Dict[str, Any] = {
    "link": pa.array([URL.format(number) for number in range(3)]),
    "caption": pa.array(["A dune", None, "Ü"], pa.large_string()),
    "day": pa.array([datetime.date(2026, 1, 1)] * 3), "small": pa.array([1, None, 3], pa.int8()),
    "price": pa.array([decimal.Decimal("1.50")] * 3), "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
    "at": pa.array([datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)] * 3, pa.timestamp("us", "UTC")),
    "tags": pa.array([["x", "y"], [], None]), "box": pa.array([{"x": 1, "y": 2.5}] * 3), "raw": pa.array([b"\0"] * 3),
    "pairs": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int32())),
    "nan": pa.array([float("nan"), 1, 2.0]),
}


def test_the_columns_of_a_table_keep_their_types_and_values(tmp_path: Path) -> None:
    table = pa.table(COLUMNS)
    found = written(thumbs.run(table, url_col="link"), tmp_path / "out")
    for name in COLUMNS:
        assert found.schema.field(name).type == table.schema.field(name).type
        assert str(found[name].to_pylist()) == str(table[name].to_pylist())
    assert found["index"].to_pylist() == [0, 1, 2] and found["url"].to_pylist() == table["link"].to_pylist()
    assert found["thumbnail_width"].to_pylist() == [256] * 3 and found["thumbnail_format"].to_pylist() == ["jpeg"] * 3


def test_the_columns_of_data_frames_keep_their_types(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"link": [URL.format(1), URL.format(2)], "score": [1.5, 2.0], "count": [7, 8], "caption": ["x", None],
               "at": [datetime.datetime(2026, 1, 1)] * 2}
    for name, frame in [("pandas", pandas.DataFrame(columns)), ("polars", polars.DataFrame(columns))]:
        found = written(thumbs.run(frame, url_col="link"), tmp_path / name)
        assert {name: found[name].to_pylist() for name in columns} == columns
        assert pa.types.is_int64(found.schema.field("count").type)
        assert pa.types.is_timestamp(found.schema.field("at").type)


def test_the_columns_of_mappings_have_the_types_of_their_values(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    rows = [{"url": URL.format(number), "count": numpy.int64(number), "vector": numpy.arange(2000),
             "day": datetime.date(2026, 1, 1), "mixed": [1, "two", {"a": 1}][number], "late": None if number else 1.5}
            for number in range(3)]
    found = written(thumbs.run(rows), tmp_path / "out")
    assert found["count"].to_pylist() == [0, 1, 2] and found["vector"].to_pylist() == [list(range(2000))] * 3
    assert found["day"].to_pylist() == [datetime.date(2026, 1, 1)] * 3
    assert found["late"].to_pylist() == [1.5, None, None]
    assert [json.loads(value) for value in found["mixed"].to_pylist()] == [1, "two", {"a": 1}]
    assert found.column_names.count("url") == 1


def test_rows_join_by_index_even_if_urls_repeat_or_have_credentials_or_are_bad(tmp_path: Path) -> None:
    rows: List[Any] = [{"url": URL.format(number % 5), "n": number} for number in range(100)]
    rows += [{"url": "http://me:secret@a.example/x.jpg", "n": 100}, {"url": None, "n": 101}, {"n": 102}, 7,
             {"url": URL.format("missing"), "n": 104}]
    found = written(thumbs.run(rows), tmp_path / "out")
    assert found["index"].to_pylist() == list(range(105))
    assert found["n"].to_pylist() == [*range(103), None, 104]
    assert found["code"].to_pylist()[100:] == [None, "bad_row", "bad_row", "bad_row", "http_404"]
    assert "is empty" in found["message"].to_pylist()[101]


def test_a_column_with_the_name_of_a_result_needs_a_prefix(tmp_path: Path) -> None:
    table = pa.table({"url": [URL.format(1)], "width": [7], "status": ["new"]})
    with pytest.raises(ValueError, match="column 'status'.*prefix"):
        thumbs.parquet.write(thumbs.run(table, state=tmp_path / "state"), tmp_path / "out")
    assert not (tmp_path / "out").exists() and not (tmp_path / "state").exists()
    found = written(thumbs.run(table), tmp_path / "out", prefix="thumbs_")
    assert (found["status"].to_pylist(), found["thumbs_status"].to_pylist()) == (["new"], ["ok"])
    assert found["url"].to_pylist() == found["thumbs_url"].to_pylist() == [URL.format(1)]


def test_a_value_of_another_type_than_those_before_names_the_column_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thumbs._arrow.BATCH_ROWS", 2)
    rows = [{"url": URL.format(number), "n": number if number < 3 else "three"} for number in range(4)]
    with pytest.raises(ValueError, match="column 'n'.*row_schema"):
        thumbs.parquet.write(thumbs.run(rows), tmp_path / "out", shard_rows=2)
    assert pyarrow.dataset.dataset(tmp_path / "out").count_rows() == 2
    found = written(thumbs.run([{**row, "n": str(row["n"])} for row in rows]), tmp_path / "texts",
                    row_schema=pa.schema({"n": pa.string()}))
    assert found["n"].to_pylist() == ["0", "1", "2", "three"]


def test_columns_have_no_credentials(tmp_path: Path) -> None:
    secret = "http://me:secret@a.example/x.jpg"
    rows = [{"url": secret, "page": secret, "more": [{"x": secret}], "headers": {"Cookie": "secret"}, "mixed": secret},
            {"url": URL.format(1), "page": "me@a.example", "more": [], "headers": None, "mixed": 7}]
    results = thumbs.run(rows, columns=["headers"])
    found = written([result for result in results], tmp_path / "out").drop_columns(["thumbnail"])
    assert "secret" not in str(found.to_pylist()) and "***" in str(found["page"].to_pylist())
    assert found["page"].to_pylist()[1] == "me@a.example"
    with pytest.raises(ValueError, match="must be called headers"):
        thumbs.run(rows, columns={"headers": "fields"})
