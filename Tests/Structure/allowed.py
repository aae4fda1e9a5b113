"""Exceptions from the rules, each with its reason."""
import fnmatch

# Names that Swift prescribes, or that mean the same in every type.
REPEATED_TYPES = {"Configuration", "CodingKeys", "Element", "Failure", "Iterator", "AsyncIterator", "State"}

# A pattern of paths, a kind of finding, and a part of its text.
EXCEPTIONS = [
    # The rules themselves, and the inputs of their tests.
    ("Tests/Structure/*", "banned word", ""),
    ("Tests/Structure/*", "British spelling", ""),
    # Every address in these files is an IP address.
    ("*/IPAddress*.swift", "banned word", '"address'),
    ("*/AddressPolicy*.swift", "banned word", '"address'),
    ("*/NameTable*.swift", "banned word", '"address'),
    ("*/NameService*.swift", "banned word", '"address'),
    ("*/HostResolution*.swift", "banned word", '"address'),
]


def is_allowed(path, kind, text):
    return any(fnmatch.fnmatch(str(path), pattern) and kind == excepted and part.lower() in text.lower()
               for pattern, excepted, part in EXCEPTIONS)
