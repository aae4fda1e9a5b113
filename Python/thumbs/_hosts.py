"""Divides the limits per host among the tasks of a cluster."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple

from ._command import check_hosts
from ._names import canonical, split
from ._urls import is_plain_host

Settings = Mapping[str, Mapping[str, Any]]

DEFAULT_PER_HOST = 6
ROWS_PER_SALT = 1000
ROWS_PER_PARTITION = 2000


def default_partitions(rows: int) -> int:
    """Returns the number of tasks for `rows` rows: one per 2,000, and at least 8."""
    return max(8, -(-rows // ROWS_PER_PARTITION))


@dataclass(frozen=True)
class HostPlan:
    """The limits per host, and how many tasks share the rows of a host.

    All rows of a host go to one task, so its limits hold for the cluster. Only a host with many rows is salted: its
    rows go to several tasks, each with a share of its downloads at once. A host with a rate is not, because more tasks
    would not make it faster.
    """

    per_host: int = DEFAULT_PER_HOST
    """The maximum number of downloads at once per host, for the cluster."""
    rate: Optional[str] = None
    """The maximum rate per host, such as `5/s`."""
    hosts: Settings = field(default_factory=dict)
    """Settings for hosts, as in the file of `--hosts`. They take precedence."""
    rows_per_salt: int = ROWS_PER_SALT
    """The number of rows of a host above which it is salted."""
    tasks: Optional[int] = None
    """The number of tasks that run at a time; None if it is unknown. Each of more salts would only wait, with its share
    of the limit."""

    def __post_init__(self) -> None:
        check_hosts(self.hosts)
        if self.rows_per_salt < 1:
            raise ValueError(f"rows_per_salt is {self.rows_per_salt}, but must be at least 1.")

    def salts(self, host: str, rows: int) -> int:
        """Returns the number of tasks that share `rows` rows of `host`: a divisor of the limit, so that the shares add
        up to it."""
        if not is_plain_host(host) or self._setting(host, "rate", self.rate) is not None:
            return 1
        limit = int(self._setting(host, "per-host", self.per_host))
        most = max(1, min(limit, -(-rows // self.rows_per_salt), self.tasks or limit))
        return next(count for count in range(most, 0, -1) if limit % count == 0 or count == 1)

    def salted(self, counts: Iterable[Tuple[str, int]]) -> Dict[str, int]:
        """Returns the number of salts of each host that has several, from pairs of a host and its number of rows."""
        salts = {host: self.salts(host, rows) for host, rows in counts}
        return {host: count for host, count in salts.items() if count > 1}

    def settings(self, salts: Mapping[str, int]) -> Dict[str, Mapping[str, Any]]:
        """Returns the settings for each task, where salted hosts have their share of the limit."""
        shared: Dict[str, Mapping[str, Any]] = dict(self.hosts)
        names = {_pattern(name): name for name in shared}
        for host, count in salts.items():
            limit = int(self._setting(host, "per-host", self.per_host))
            # A name without a port would also stand for the other ports of the host.
            pattern = _with_port(host)
            name = names.get(pattern, pattern)
            shared[name] = {**shared.get(name, {}), "per-host": max(1, limit // count)}
        return shared

    def _setting(self, host: str, name: str, default: Any) -> Any:
        """Returns a setting of the most specific pattern that has it."""
        hosts = {_pattern(pattern): settings for pattern, settings in self.hosts.items()}
        for pattern in _patterns(host):
            value = hosts.get(pattern, {}).get(name)
            if value is not None:
                return value
        return default


def _pattern(text: str) -> str:
    """Returns the canonical form of a key of the file of `--hosts`; 80 and 443 both mean the default port."""
    if text.startswith("*"):
        return text[:2] + split(text[2:])[0]
    name, port = split(text)
    return name if port is None else _with_port(canonical(text))


def _with_port(host: str) -> str:
    """Returns the pattern for a canonical host at its port."""
    name, port = split(host)
    return f"{name}:{port or 443}"


def _patterns(host: str) -> Iterator[str]:
    """Yields all patterns that match a canonical host, the most specific one first."""
    yield _with_port(host)
    name = split(host)[0]
    yield name
    while "." in name:
        name = name.partition(".")[2]
        yield f"*.{name}"
    yield "*"
