"""Writes camera raw files as seeds: raw.py FOLDER."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Decoders"))
import raw  # noqa: E402
import raw_file  # noqa: E402

# The size of the raw image, and that of the preview, the smallest that is large enough.
RAW, PREVIEW = (32, 24), (264, 198)

target = pathlib.Path(sys.argv[1])
for orientation in (1, 6):
    preview = raw.encoded(*PREVIEW, orientation)
    for order in "<>":
        name = f"{orientation}-{'little' if order == '<' else 'big'}"
        raw_file.write_dng(target / f"{name}.dng", [preview], RAW, orientation, order)
        raw_file.write_nef(target / f"{name}.nef", preview, RAW, orientation, order)
