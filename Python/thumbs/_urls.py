"""Canonical keys of URLs, and their hosts.

The key of a URL is its canonical form as far as a pattern can see it: scheme and host in lower case, no default port,
no fragment, and `/` for an empty path. A URL that the pattern does not match (with credentials, an IPv6 address, or
anything that is not valid) is its own key. URLs with the same key are the same image; the worker finds the rest.
`thumbs.spark` has the same rules as SQL.
"""
from __future__ import annotations

import re
from typing import Optional, Tuple

PLAIN = r"([Hh][Tt][Tt][Pp][Ss]?)://([A-Za-z0-9._-]+)(:[0-9]*)?([/?][^#]*)?(?:#[\s\S]*)?"
"""A URL of plain parts: scheme, host, port, and path with query. Python and Java read it alike."""

ANY_HOST = r"[A-Za-z][A-Za-z0-9+.-]*:[/\\]*(?:[^/?#\\]*@)?([^/?#\\]*)"
"""The beginning of any other URL up to its host, which is the group."""

DEFAULT_PORTS = {"http": (":", ":80"), "https": (":", ":443")}

_PLAIN, _ANY_HOST = re.compile(PLAIN), re.compile(ANY_HOST)
_NAME = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*(?::[1-9][0-9]{0,4})?", re.ASCII)
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"(?:{_BYTE}\.){{3}}{_BYTE}(?::[1-9][0-9]{{0,4}})?", re.ASCII)


def key_and_host(url: Optional[str]) -> Tuple[str, str]:
    """Returns the key of a URL, and its host with its port unless that is the default. None is the empty text."""
    if url is None:
        return "", ""
    match = _PLAIN.fullmatch(url)
    if match is None:
        found = _ANY_HOST.match(url)
        return url, found[1].lower() if found else ""
    scheme, host, port, path = match[1].lower(), match[2].lower(), match[3] or "", match[4] or ""
    authority = host if port in DEFAULT_PORTS[scheme] else host + port
    return f"{scheme}://{authority}{'' if path.startswith('/') else '/'}{path}", authority


def is_plain_host(host: str) -> bool:
    """True if a host, with or without port, is certainly one that the file of `--hosts` may name."""
    if not (_NAME.fullmatch(host) or _IPV4.fullmatch(host)):
        return False
    name, _, port = host.partition(":")
    return len(name) <= 253 and all(len(label) <= 63 for label in name.split(".")) and int(port or 80) <= 65_535
