"""Tests of the limits per host in a cluster."""
from __future__ import annotations

import re
from typing import Any, Dict, List, Optional

import pytest

from thumbs import _redaction
from thumbs._hosts import HostPlan, default_partitions
from thumbs._urls import is_plain_host, key_and_host, stored


@pytest.mark.parametrize("rows, salts", [(1, 1), (1000, 1), (1001, 2), (3000, 3), (6001, 6), (10_000_000, 6)])
def test_a_host_with_many_rows_is_shared_by_at_most_as_many_tasks_as_its_limit(rows: int, salts: int) -> None:
    assert HostPlan().salts("a.example", rows) == salts


@pytest.mark.parametrize("tasks, salts", [(1, 1), (2, 2), (4, 3), (5, 3), (6, 6), (100, 6), (None, 6)])
def test_no_more_tasks_share_a_host_than_run_at_a_time(tasks: Optional[int], salts: int) -> None:
    assert HostPlan(tasks=tasks).salts("a.example", 1_000_000) == salts


def test_only_hosts_that_several_tasks_share_are_salted() -> None:
    plan = HostPlan(hosts={"c.example": {"rate": "5/s"}})
    assert plan.salted([("a.example", 1000), ("b.example", 1001), ("c.example", 9000)]) == {"b.example": 2}


@pytest.mark.parametrize("rows, partitions", [(0, 8), (16_000, 8), (16_001, 9), (18_000, 9), (1_000_000, 500)])
def test_there_is_a_task_per_2000_rows(rows: int, partitions: int) -> None:
    assert default_partitions(rows) == partitions


@pytest.mark.parametrize("limit", range(1, 20))
@pytest.mark.parametrize("rows", [1, 6000, 33_000, 1_000_000])
def test_the_shares_of_a_host_add_up_to_its_limit(limit: int, rows: int) -> None:
    plan = HostPlan(per_host=limit)
    salts = plan.salts("a.example", rows)
    share = plan.settings({"a.example": salts})["a.example:443"]["per-host"]
    assert share >= 1 and share * salts == limit


@pytest.mark.parametrize("hosts, expected", [
    ({}, 6), ({"*": {"per-host": 3}}, 3), ({"*.b.example": {"per-host": 4}, "*": {"per-host": 3}}, 4),
    ({"*.example": {"per-host": 2}, "*.b.example": {"rate": None}}, 2),
    ({"A.b.example": {"per-host": 5}, "*.b.example": {"per-host": 4}}, 5),
    ({"a.b.example:80": {"per-host": 1}, "a.b.example": {"per-host": 5}}, 1),
    ({"A.B.example.": {"per-host": 2}}, 2), ({"*.B.Example": {"per-host": 2}}, 2),
    ({"a.b.example:0443": {"per-host": 2}}, 2), ({"a.b.example": {"rate": None, "per-host": None}}, 6),
])
def test_the_most_specific_setting_decides(hosts: Dict[str, Any], expected: int) -> None:
    assert HostPlan(hosts=hosts).salts("a.b.example", 10_000_000) == expected


@pytest.mark.parametrize("rate, hosts", [("5/s", {}), (None, {"*": {"rate": "1/m"}})])
def test_a_host_with_a_rate_belongs_to_one_task(rate: Optional[str], hosts: Dict[str, Any]) -> None:
    assert HostPlan(rate=rate, hosts=hosts).salts("a.example", 1_000_000) == 1


def test_shares_keep_other_settings() -> None:
    hosts = {"a.example:80": {"user-agent": "x", "per-host": 4}, "*": {"per-host": 9}}
    assert HostPlan(hosts=hosts).settings({"a.example": 2, "b.example:8080": 3}) == {
        "a.example:80": {"user-agent": "x", "per-host": 2}, "*": {"per-host": 9}, "b.example:8080": {"per-host": 3}}


@pytest.mark.parametrize("host, is_plain", [
    ("a.example", True), ("a-b_c.example:8080", True), ("127.0.3.1:80", True), ("localhost", True), ("a..b", False),
    ("", False), ("a.example:99999", False), ("256.1.1.1", False), ("a b", False), ("[::1]", False), ("a.1", False),
    ("bücher.example", False), ("a.example.", False), ("x" * 64 + ".example", False),
])
def test_only_hosts_that_the_file_of_hosts_may_name_are_salted(host: str, is_plain: bool) -> None:
    assert is_plain_host(host) == is_plain
    assert HostPlan().salts(host, 1_000_000) == (6 if is_plain else 1)


@pytest.mark.parametrize("url, key, host", [
    ("HTTP://A.Example:80", "http://a.example/", "a.example"),
    ("http://a.example:080/x", "http://a.example/x", "a.example"),
    ("http://a.example:0/x", "http://a.example:0/x", "a.example:0"),
    ("https://a.example:443?x#y", "https://a.example/?x", "a.example"),
    ("https://a.example:80/x", "https://a.example:80/x", "a.example"),
    ("http://u:p@A.example:81/x#y", "http://u:p@A.example:81/x#y", "a.example:81"),
    ("http://u@v@a.example/", "http://u@v@a.example/", "a.example"),
    ("not a URL", "not a URL", ""), (None, "", ""),
])
def test_keys_are_canonical(url: Optional[str], key: str, host: str) -> None:
    assert key_and_host(url) == (key, host)


@pytest.mark.parametrize("host, spellings", [
    ("a.example", ["a.example", "A.EXAMPLE", "a.example.", "a.example:80", "a.example:443", "a.example:080", 
                   "a.example:", "%61.example", "me:pw@a.example", "ａ.example", "a。example"]),
    ("a.example:8080", ["a.example:8080", "A.example.:08080"]), ("a.b1", ["a.b1"]), ("a.1.b", ["a.1.b"]),
    ("127.0.0.1", ["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f.1", "0177.0.0.01", "0X7F000001", "127.0.0.1.",
                   "１２７.1", "127.0.0.1:80"]),
    ("127.0.0.1:8080", ["127.1:8080", "127.0.0.1:08080"]), ("256.1.1.1", ["256.1.1.1"]), ("1.2.3.4.5", ["1.2.3.4.5"]),
    ("127.089", ["127.089"]), ("xn--bcher-kva.example", ["bücher.example", "BÜCHER.example.", "xn--bcher-kva.example",
                                                         "b%C3%BCcher.example", "bu\u0308cher.example:80"]),
    ("xn--strae-oqa.example", ["straße.example", "xn--strae-oqa.example"]), ("ss.example", ["ẞ.example", "ſs.example"]),
    ("a.example", ["\u00ada.exam\u200bple"]),
    ("xn--fsqu00a.xn--0zwm56d", ["例子.测试", "XN--FSQU00A.xn--0zwm56d"]),
    ("[::1]", ["[::1]", "[0:0:0:0:0:0:0:1]", "[0::0001]:80"]), ("[::1]:81", ["[::1]:81", "[0::1]:081"]),
])
def test_all_spellings_of_a_host_are_one_host(host: str, spellings: List[str]) -> None:
    found = {spelling: key_and_host(f"http://{spelling}/x")[1] for spelling in spellings}
    assert found == dict.fromkeys(spellings, host)


def test_shares_replace_the_settings_of_a_host_in_any_spelling() -> None:
    hosts = {"Bücher.example:80": {"per-host": 4}, "127.1:8080": {"per-host": 5}}
    assert HostPlan(hosts=hosts).settings({"xn--bcher-kva.example": 2, "127.0.0.1:8080": 2}) == {
        "Bücher.example:80": {"per-host": 2}, "127.1:8080": {"per-host": 2}}


def test_impossible_settings_raise() -> None:
    with pytest.raises(ValueError, match="rows_per_salt"):
        HostPlan(rows_per_salt=0)
    with pytest.raises(TypeError, match="hosts"):
        HostPlan(hosts="hosts.json")  # type: ignore[arg-type]


@pytest.mark.parametrize("url, shown", [
    ("http://me:secret@a.example/x", r"http://\*\*\*[0-9a-f]{32}@a\.example/x"),
    ("http://secret@a.example/x", r"http://\*\*\*[0-9a-f]{32}@a\.example/x"),
    ("http://me:sec/ret@a.example/x", r"http://\*\*\*[0-9a-f]{32}@a\.example/x"),
    ("http://me:99999/secret@a.example/x", r"http://\*\*\*[0-9a-f]{32}@a\.example/x"),
    ("me:secret@a.example/x", r"\*\*\*[0-9a-f]{32}@a\.example/x"), ("http://a.example/@me", "http://a.example/@me"),
    ("http://a.example:65535/@me", "http://a.example:65535/@me"), ("http://[::1]:80/@me", r"http://\[::1\]:80/@me"),
    ("http://bücher.example/ @me", "http://bücher.example/ @me"), ("@", r"\*\*\*[0-9a-f]{32}@"), ("", ""),
])
def test_credentials_are_not_stored(url: str, shown: str) -> None:
    assert re.fullmatch(shown, stored(url, "salt"))


def test_urls_that_differ_in_credentials_stay_different() -> None:
    urls = [f"http://me:{number}@a.example/x" for number in range(100)]
    assert len({stored(url, "salt") for url in urls}) == 100
    assert stored(urls[0], "salt") == stored(urls[0], "salt") != stored(urls[0], "pepper")


@pytest.mark.parametrize("url, shown", [
    ("https://me:pw@a.example/@x?b@c", "https://***@a.example/@x?b@c"),
    ("http://me:p/w@a.example/x", "http://***@a.example/x"),
    ("http://a.example/?to=http://me:pw@b.example/", "http://a.example/?to=http://***@b.example/"),
    ("http://a.example/@me", "http://a.example/@me"), ("me:pw@a.example", "***@a.example"), ("http://a/", "http://a/"),
])
def test_credentials_are_removed_as_in_the_report(url: str, shown: str) -> None:
    assert _redaction.url(url) == shown
