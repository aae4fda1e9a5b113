"""Tests of `thumbs.ray` on a cluster of two nodes on this machine; `make test-cluster` runs them."""
from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from support import Origin, children, parent, wait_until

import thumbs

pytest.importorskip("ray")

import pyarrow.dataset  # noqa: E402
import ray  # noqa: E402
import ray.data  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import thumbs.ray  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("command")]
PACKAGE = Path(thumbs.__file__).resolve().parents[1]
URLS = int(os.environ.get("THUMBS_CLUSTER_URLS", "6000"))
OPTIONS: Any = {"sizes": 32, "no_cache": True, "no_config": True, "partitions": 20, "per_host": 4,
                "rows_per_salt": 500}


def add_node(cluster: Any) -> None:
    cluster.add_node(num_cpus=2, object_store_memory=100 << 20)


@pytest.fixture(scope="module")
def cluster(command: str) -> Iterator[Any]:
    os.environ["PYTHONPATH"] = str(PACKAGE)
    cluster = Cluster(initialize_head=True, head_node_args={
        "num_cpus": 0, "object_store_memory": 100 << 20, "include_dashboard": False})
    for _ in range(2):
        add_node(cluster)
    ray.init(address=cluster.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    origin = Origin(hosts=40, delay=0.01)
    yield origin
    origin.close()


def dataset(origin: Origin, rows: int, urls: int) -> Any:
    links = [{"id": number, "link": origin.url(number % urls)} for number in range(rows)]
    return ray.data.from_items(links, override_num_blocks=8)


def check(origin: Origin, path: Path, urls: int, lost_actors: int) -> None:
    """Checks that the table has every URL once, and only what was lost was requested again, within the limits."""
    table = pyarrow.dataset.dataset(path).to_table()
    found = table.column("url").to_pylist()
    assert sorted(found) == sorted({origin.url(number) for number in range(urls)})
    assert set(table.column("status").to_pylist()) == {"ok"}
    largest = max(fragment.count_rows() for fragment in pyarrow.dataset.dataset(path).get_fragments())
    stats = origin.stats()
    extra = sum(stats["requests"].values()) - urls
    print(f"{extra} extra requests; the largest partition has {largest} URLs")
    assert len(stats["requests"]) == urls
    assert max(stats["requests"].values()) <= 2
    assert extra <= lost_actors * largest
    assert max(stats["peaks"].values()) <= OPTIONS["per_host"]


def kill_actor(cluster: Any) -> None:
    os.kill(parent(wait_until(children, 60)[0]), signal.SIGKILL)


def kill_node(cluster: Any) -> None:
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)


def kill_child(cluster: Any) -> None:
    os.kill(wait_until(children, 60)[0], signal.SIGKILL)


def test_an_existing_path_raises(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        thumbs.ray.fetch(ray.data.from_items([{"link": "x"}]), "link", path=tmp_path)


def test_an_option_that_cannot_be_used_raises_at_once(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(thumbs.UsageError, match="called sizes"):
        thumbs.ray.fetch(ray.data.from_items([{"link": "x"}]), "link", path=tmp_path / "table", size=[8, 16])
    assert os.listdir(tmp_path) == []


def test_a_failed_fetch_removes_its_directory_and_no_other(cluster: Any, origin: Origin, tmp_path: Path) -> None:
    other = tmp_path / ".table.unfinished"
    other.mkdir()
    (other / "mine").write_text("")
    ds = ray.data.from_items([{"link": origin.url(1)}])
    with pytest.raises(Exception, match="--quality"):
        thumbs.ray.fetch(ds, "link", path=tmp_path / "table", quality=1000, **OPTIONS)
    assert os.listdir(tmp_path) == [".table.unfinished"] and (other / "mine").exists()
    thumbs.ray.fetch(ds, "link", path=tmp_path / "table", **OPTIONS)
    assert sorted(os.listdir(tmp_path)) == [".table.unfinished", "table"] and (other / "mine").exists()


def test_a_path_that_comes_into_being_costs_no_results(tmp_path: Path) -> None:
    path = tmp_path / "table"
    with pytest.raises(FileExistsError, match="the table is in .*unfinished"):
        with thumbs.ray._new_folder(path) as folder:
            (folder / "part").write_text("")
            path.mkdir()
            (path / "mine").write_text("")
    assert (folder / "part").exists() and os.listdir(path) == ["mine"]


def test_credentials_are_used_and_not_stored(cluster: Any, origin: Origin, tmp_path: Path) -> None:
    links = [origin.url(1).replace("//", f"//{user}@") for user in ["me:secret", "me:other-secret"]]
    fetched = thumbs.ray.fetch(ray.data.from_items([{"link": link} for link in links]), "link",
                               path=tmp_path / "table", **OPTIONS).take_all()
    assert [row["status"] for row in fetched] == ["ok", "ok"]
    assert len({row["url"] for row in fetched}) == 2 and all("secret" not in row["url"] for row in fetched)


PLACES = pytest.mark.parametrize("most", [0, 200_000], ids=["on the cluster", "on the driver"])
"""The place where the URLs are divided: of more than `most`, on the cluster."""


@PLACES
def test_failures_are_rows(
    cluster: Any, origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("thumbs.ray.MOST_ON_DRIVER", most)
    links = [origin.url(1), origin.url(1) + "#part", origin.url(2) + "?missing", "no URL", None]
    ds = ray.data.from_items([{"link": link} for link in links])
    fetched = thumbs.ray.fetch(ds, "link", path=tmp_path / "table", **OPTIONS)
    codes = {row["url"]: row["code"] for row in fetched.take_all()}
    assert {url: code for url, code in codes.items() if url} == {
        origin.url(1): None, origin.url(2) + "?missing": "http_404", "no URL": "bad_url"}
    assert len(codes) == 4


@PLACES
@pytest.mark.parametrize("kill, lost_actors", [(kill_child, 1), (kill_actor, 1), (kill_node, 2)])
def test_a_kill_loses_and_repeats_no_row(
    cluster: Any, origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int,
    kill: Callable[[Any], None], lost_actors: int,
) -> None:
    monkeypatch.setattr("thumbs.ray.MOST_ON_DRIVER", most)
    origin.reset()

    def later() -> None:
        wait_until(lambda: origin.requests() >= URLS / 3, 300)
        assert not (tmp_path / "table").exists()
        kill(cluster)

    killer = threading.Thread(target=later)
    killer.start()
    thumbs.ray.fetch(dataset(origin, 4 * URLS, URLS), "link", path=tmp_path / "table", **OPTIONS)
    killer.join()
    if kill is kill_node:  # The next test kills another one.
        add_node(cluster)
    check(origin, tmp_path / "table", URLS, lost_actors)
    assert os.listdir(tmp_path) == ["table"]
