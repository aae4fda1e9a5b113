"""replies.py DIR: writes seeds for the fuzzing of replies: images of each number of channels, some with failures."""
import pathlib
import struct
import sys

DIR = pathlib.Path(sys.argv[1])


def reply(status=0, rows=0, width=16, height=8, channels=4, orientation=1, profile=0, is_vector=0):
    """A reply without its text."""
    return struct.pack("<QIIIIIIIBBBB", 0, status, rows, width, height, channels, orientation, profile, 1, 13, 1,
                       is_vector)


SEEDS = {
    **{f"channels-{count}": (reply(channels=count), reply(rows=8)) for count in range(1, 5)},
    **{f"failure-{status}": (reply(status), reply()) for status in range(1, 8)},
    "vector": (reply(is_vector=1), reply(rows=20)), "cut": (reply(), reply(1, rows=3)),
    "profile": (reply(profile=500), reply(rows=8)), "turned": (reply(orientation=6), reply(rows=8)),
}
for name, replies in SEEDS.items():
    (DIR / name).write_bytes(bytes(2) + b"".join(replies) + b"an error\0and warnings\n")
# Texts without an end.
(DIR / "long").write_bytes(bytes(2) + reply() + reply(1, rows=8) + b"line\x1b[1m\n" * 200)
