"""Tests of the limits per host in a cluster."""
from __future__ import annotations

from typing import Any, Dict, Optional

import pytest

from thumbs._hosts import HostPlan
from thumbs._urls import is_plain_host, key_and_host


@pytest.mark.parametrize("rows, salts", [(1, 1), (5000, 1), (5001, 2), (15_000, 3), (30_001, 6), (10_000_000, 6)])
def test_a_host_with_many_rows_is_shared_by_at_most_as_many_tasks_as_its_limit(rows: int, salts: int) -> None:
    assert HostPlan().salts("a.example", rows) == salts


@pytest.mark.parametrize("limit", range(1, 20))
@pytest.mark.parametrize("rows", [1, 6000, 33_000, 1_000_000])
def test_the_shares_of_a_host_never_add_up_to_more_than_its_limit(limit: int, rows: int) -> None:
    plan = HostPlan(per_host=limit)
    salts = plan.salts("a.example", rows)
    share = plan.settings({"a.example": salts})["a.example:443"]["per-host"]
    assert share >= 1 and share * salts <= limit


@pytest.mark.parametrize("hosts, expected", [
    ({}, 6), ({"*": {"per-host": 3}}, 3), ({"*.b.example": {"per-host": 4}, "*": {"per-host": 3}}, 4),
    ({"*.example": {"per-host": 2}, "*.b.example": {"rate": None}}, 2),
    ({"A.b.example": {"per-host": 5}, "*.b.example": {"per-host": 4}}, 5),
    ({"a.b.example:80": {"per-host": 1}, "a.b.example": {"per-host": 5}}, 1),
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
    ("https://a.example:443?x#y", "https://a.example/?x", "a.example"),
    ("https://a.example:80/x", "https://a.example:80/x", "a.example:80"),
    ("http://u:p@A.example:81/x#y", "http://u:p@A.example:81/x#y", "a.example:81"),
    ("http://u@v@a.example/", "http://u@v@a.example/", "a.example"),
    ("not a URL", "not a URL", ""), (None, "", ""),
])
def test_keys_are_canonical(url: Optional[str], key: str, host: str) -> None:
    assert key_and_host(url) == (key, host)
