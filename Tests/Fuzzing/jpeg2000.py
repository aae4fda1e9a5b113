"""Writes JPEG 2000 files as seeds: jpeg2000.py FOLDER. They have the boxes of the tests, and need opj_compress."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Decoders"))
import jpeg2000  # noqa: E402
import samples  # noqa: E402

target = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    samples.photo(60, 50).save(folder / "photo.png")
    for kind, options in jpeg2000.LAYOUTS.items():
        jpeg2000.compress(folder / "photo.png", folder / f"{kind}.jp2", *options, *(["-n", "2"] if "-n" not in options
                                                                                    else []))
    known, premultiplied = jpeg2000.channels(folder)
    for case in [*known, *premultiplied, *jpeg2000.palettes(folder)]:
        case.path.rename(folder / f"boxes-{case.path.name}")
    for path in [*folder.glob("*.jp2")]:
        (target / path.name).write_bytes(path.read_bytes())
