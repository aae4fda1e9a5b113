"""Canonical keys of URLs, and their hosts.

The key of a URL is its canonical form as far as a pattern can see it: scheme and host in lower case, no default port,
no fragment, and `/` for an empty path. A URL that the pattern does not match (with credentials, an IPv6 address, or
anything that is not valid) is its own key. URLs with the same key are the same image; the worker finds the rest.
`thumbs.spark` has the same rules for keys as SQL.
"""
from __future__ import annotations

import hashlib
import re
from typing import Optional, Tuple

from . import _redaction
from ._names import canonical

PLAIN = r"([Hh][Tt][Tt][Pp][Ss]?)://([A-Za-z0-9._-]+)(:[0-9]*)?([/?][^#]*)?(?:#[\s\S]*)?"
"""A URL of plain parts: scheme, host, port, and path with query. Python and Java read it alike."""

ZEROS = r"^:0+(?=[0-9])"
"""The beginning of a port with zeros that mean nothing."""

DEFAULT_PORTS = {"http": (":", ":80"), "https": (":", ":443")}

HASH_DIGITS = 32

_PLAIN, _WITHOUT_USER = re.compile(PLAIN), re.compile(_redaction.WITHOUT_USER)
_HOST = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:[/\\]*(?:[^/?#\\]*@)?([^/?#\\]*)")
_NAME = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*(?::[1-9][0-9]{0,4})?", re.ASCII)
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"(?:{_BYTE}\.){{3}}{_BYTE}(?::[1-9][0-9]{{0,4}})?", re.ASCII)


def key(url: Optional[str]) -> str:
    """Returns the key of a URL. That of None is the empty text."""
    match = _PLAIN.fullmatch(url or "")
    if match is None:
        return url or ""
    scheme, host, port, path = match[1].lower(), match[2].lower(), re.sub(ZEROS, ":", match[3] or ""), match[4] or ""
    authority = host if port in DEFAULT_PORTS[scheme] else host + port
    return f"{scheme}://{authority}{'' if path.startswith('/') else '/'}{path}"


def host(url: str) -> str:
    """Returns the canonical host of a URL, with its port unless that is a default one; empty if there is none."""
    found = _HOST.match(url)
    return canonical(found[1]) if found else ""


def key_and_host(url: Optional[str]) -> Tuple[str, str]:
    """Returns the key of a URL, and its host."""
    return key(url), host(url or "")


def stored(key: str, seed: str) -> str:
    """Returns the form of a key in tables: if it may have credentials, `***` and a hash stand in their place.

    The hash tells URLs apart whose credentials differ. Without the seed, nobody can find the credentials by trial.
    """
    if "@" not in key or _WITHOUT_USER.fullmatch(key):
        return key
    digits = hashlib.sha256((seed + key).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
    return _redaction.hiding_all(key, f"{_redaction.MARK}{digits}")


def is_plain_host(host: str) -> bool:
    """True if a host, with or without port, is certainly one that the file of `--hosts` may name."""
    if not (_NAME.fullmatch(host) or _IPV4.fullmatch(host)):
        return False
    name, _, port = host.partition(":")
    return len(name) <= 253 and all(len(label) <= 63 for label in name.split(".")) and int(port or 80) <= 65_535
