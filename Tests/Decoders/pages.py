"""Pages that are chosen by number: of TIFF files, in which thumbnails are not pages, and of PDF documents."""
import cases
import pdf
import samples

COLORS = [(200, 30, 20), (30, 160, 40), (20, 60, 220)]


def write(folder):
    """Writes a TIFF file and a PDF document with a page for each color. The TIFF file has a thumbnail after each."""
    parts = []
    for number, color in enumerate(COLORS):
        for name, side, kind in ((f"page-{number}.tif", 40, "0"), (f"thumbnail-{number}.tif", 10, "1")):
            samples.Image.new("RGB", (side, side), color).save(folder / name)
            cases.tool("tiffset", "-s", "254", kind, folder / name)
            parts.append(folder / name)
    cases.tool("tiffcp", *parts, folder / "pages.tif")
    fills = [f"{r / 255} {g / 255} {b / 255} rg 0 0 200 200 re f" for r, g, b in COLORS]
    pdf.write(folder / "pages.pdf", pdf.pages(fills))
    return [folder / "pages.tif", folder / "pages.pdf"]


def check(command, folder):
    folder.mkdir()
    paths, failures = write(folder), []
    for page in range(1, len(COLORS) + 2):
        run = folder / f"run-{page}"
        for path, line in zip(paths, cases.render(command, run, paths, "40", more=["--page", str(page)])):
            found = line.get("code")
            if line["status"] == "ok":
                found = tuple(samples.pixels(run / "out" / line["outputs"][0]["path"])[20, 20][:3])
            expected = COLORS[page - 1] if page <= len(COLORS) else "no_page"
            if found != expected:
                failures.append(f"Pages: {path.name}, page {page}: {found}, not {expected}")
    print(f"Pages: {len(COLORS)} pages and the missing one of {len(paths)} files", flush=True)
    return failures
