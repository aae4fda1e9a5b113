"""The examples of the documents, run with images of a server on this machine, and the options that they name."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pandas
import pyarrow.parquet
import pytest
from support import Origin

import thumbs
from thumbs import _command

DOCUMENTS = Path(__file__).resolve().parents[2] / "Documentation"


def blocks(name: str) -> List[str]:
    return re.findall(r"```python\n(.*?)```", (DOCUMENTS / name).read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    origin = Origin(hosts=2, delay=0)
    yield origin
    origin.close()


@pytest.mark.usefixtures("command")
@pytest.mark.parametrize("name, count", [("python.md", 6), ("img2dataset.md", 1)])
def test_the_examples_run(
    name: str, count: int, origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    frame = pandas.DataFrame(
        {"url": [origin.url(number) for number in range(20)], "caption": "A caption", "thumb": 64})
    frame.rename(columns={"url": "link"}).to_parquet("list.parquet")
    if name == "img2dataset.md":
        frame.to_parquet("list.parquet")
    frame.to_csv("captions.csv", index=False)
    names: Dict[str, Any] = {"thumbs": thumbs, "pandas": pandas, "urls": list(frame["url"])}
    found = blocks(name)
    assert len(found) >= count
    for number, block in enumerate(found):
        for target in re.findall(r'"(table|dataset)"', block):  # Each example has a directory without earlier files.
            if "continue" not in block:
                block = block.replace(f'"{target}"', f'"{target}{number}"')
        for url in re.findall(r"https://[^\"]+", block):
            block = block.replace(url, origin.url(0))
        exec(block.replace("s3://bucket/", "memory://bucket/"), names)
    written = list(tmp_path.glob("**/*.parquet"))
    assert all(pyarrow.parquet.read_table(path).num_rows == 20 for path in written) and len(written) >= 2


@pytest.mark.usefixtures("command")
def test_the_options_of_the_table_for_img2dataset_exist() -> None:
    text = (DOCUMENTS / "img2dataset.md").read_text()
    named = set(re.findall(r"`([a-z_]+)(?:=[^`]*)?`", text))
    options: Dict[str, Any] = {
        "enlarge": True, "kernel": "lanczos3", "quality": 95, "min_pixels": "1k", "max_pixels": "1M",
        "max_aspect_ratio": 3, "render_threads": 2, "concurrency": 256, "per_host": 32, "timeout": "10s",
        "connect_timeout": "1s", "first_byte_timeout": "2s", "retries": 2, "user_agent": "token", "robots": True,
        "metrics": "metrics.prom", "no_cache": True,
    }
    assert set(options) <= named
    for fit in ("inside", "outside", "cover", "pad"):
        _command.check(256, fit=fit, format="jpeg", **{**options, "metrics": None})
