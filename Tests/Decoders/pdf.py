"""Pages of PDF documents, and their pixels by pdftocairo and pdftoppm at the same size."""
import functools
import io
import pathlib
import subprocess
import zlib

from cases import Case, Group, tool
import samples
import svg

TEXT = "BT /F 24 Tf 20 150 Td (Thumbnail) Tj ET"
SHAPES = """0.9 0.2 0.1 rg 20 20 60 40 re f 0 0.4 0.8 RG 4 w 100 20 m 180 80 l 120 110 l s
q 0.1 0.6 0.3 rg 150 100 m 190 100 190 140 150 140 c 110 140 110 100 150 100 c f Q"""
SIZES = ["60", "200", "500"]
# Of TeX, in the Debian packages libtasn1-doc and shared-mime-info.
DOCUMENTS = [pathlib.Path("/usr/share/doc", name)
             for name in ("libtasn1-doc/libtasn1.pdf", "shared-mime-info/shared-mime-info-spec.pdf")]
ENDING = b"%%EOF"


def document(objects, root=1):
    """The bytes of a document. `objects` are the contents of its objects, from number 1."""
    out, offsets = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, content in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, content if isinstance(content, bytes) else content.encode()))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer\n<</Size %d/Root %d 0 R>>\nstartxref\n%d\n" % (len(objects) + 1, root, start) + ENDING)
    return out.getvalue()


def stream(content, more=""):
    return f"<<{more}/Length {len(content)}>>stream\n{content}\nendstream"


def pages(contents, attributes=""):
    """A document with a page for each content stream, 200 by 200 points unless the attributes say otherwise."""
    box = "" if "MediaBox" in attributes else "/MediaBox[0 0 200 200]"
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(contents)))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>",
               "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    for number, content in enumerate(contents):
        objects += [f"<</Type/Page/Parent 2 0 R{box}{attributes}/Contents {5 + 2 * number} 0 R"
                    "/Resources<</Font<</F 3 0 R>>>>>>", stream(content)]
    return document(objects)


def form():
    """A document with a filled field and a highlight, which are drawn from their appearances."""
    field = ("<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(filled)/Rect[20 100 120 130]/F 4/AP<</N 6 0 R>>"
             "/DA(/F 12 Tf 0 g)>>")
    appearance = stream("q 0.8 0.9 1 rg 0 0 100 30 re f BT 0 g /F 12 Tf 4 10 Td (filled) Tj ET Q",
                        "/Type/XObject/Subtype/Form/BBox[0 0 100 30]/Resources<</Font<</F 3 0 R>>>>")
    return document(["<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R]/DR<</Font<</F 3 0 R>>>>>>>>",
                     "<</Type/Pages/Kids[4 0 R]/Count 1>>", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
                     "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[5 0 R]/Contents 7 0 R/Resources<<>>>>",
                     field, appearance, stream(SHAPES)])


def drawn(program, path, width, height, turned=False):
    """The pixels of the first page. pdftoppm exchanges the sides of a page that is turned; pdftocairo may add a column
    or a row."""
    sides = (height, width) if turned and program == "pdftoppm" else (width, height)
    command = [program, "-png", "-singlefile", "-cropbox", "-scale-to-x", str(sides[0]), "-scale-to-y", str(sides[1]),
               str(path), *(["-"] if program == "pdftocairo" else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return samples.pixels(io.BytesIO(done.stdout))[:height, :width]


def write(path, content):
    path.write_bytes(content)
    return path


def locked(folder):
    """A document that needs a password, and one whose owner only restricts what readers do with it."""
    plain = write(folder / "unlocked.pdf", pages([SHAPES]))
    free, closed = folder / "owner.pdf", folder / "locked.pdf"
    tool("qpdf", "--encrypt", "", "owner", "256", "--", plain, free)
    tool("qpdf", "--encrypt", "user", "owner", "256", "--", plain, closed)
    return closed, free


def made(folder):
    """Documents with shapes, in which a box, a rotation, an appearance or a page decides; and those of programs."""
    drawing = folder / "drawing.svg"
    samples.photo().save(folder / "photo.pdf")
    drawing.write_text(svg.ROOT + f' width="120" height="100">{svg.SHAPES}</svg>')
    tool("rsvg-convert", "-f", "pdf", "-o", folder / "drawing.pdf", drawing)
    tool("qpdf", "--linearize", "--object-streams=generate", folder / "drawing.pdf", folder / "linear.pdf")
    return [write(folder / "plain.pdf", pages([SHAPES])), locked(folder)[1], write(folder / "form.pdf", form()),
            write(folder / "cropped.pdf", pages([SHAPES], "/MediaBox[0 0 200 200]/CropBox[10 10 110 190]")),
            write(folder / "first.pdf", pages([SHAPES, "0 1 0 rg 0 0 200 200 re f"])),
            folder / "photo.pdf", folder / "drawing.pdf", folder / "linear.pdf"]


def cases_of(program, paths, turned=False, sizes=SIZES):
    return [Case(path, functools.partial(drawn, program, path, turned=turned), size) for path in paths
            for size in sizes]


def groups(folder):
    shapes = made(folder)
    turned = [write(folder / f"turned-{angle}.pdf", pages([SHAPES], f"/Rotate {angle}/MediaBox[0 0 200 120]"))
              for angle in (90, 270)]
    text = [write(folder / "text.pdf", pages([TEXT])), *DOCUMENTS]
    same = [*cases_of("pdftocairo", shapes + text), *cases_of("pdftocairo", turned, turned=True)]
    # At small sizes, pdftoppm widens thin lines.
    other = [*cases_of("pdftoppm", shapes, sizes=SIZES[1:]), *cases_of("pdftoppm", turned, turned=True)]
    return [
        Group("PDF, by pdftocairo", "the same renderer; white paper is added after the drawing", same, 1),
        Group("PDF, shapes by pdftoppm", "edges are smoothed differently", other, 210, 4),
        Group("PDF, text by pdftoppm", "letters are smoothed differently", cases_of("pdftoppm", text), 255, 6),
    ]


def packed(content):
    """A compressed stream."""
    data = zlib.compress(content, 9)
    return f"<</Filter/FlateDecode/Length {len(data)}>>stream\n".encode() + data + b"\nendstream"


def external(place):
    """Documents that refer to a file or URL in all ways that poppler parses, on a green page, by name."""
    green = "0 1 0 rg 0 0 40 40 re f 40 0 0 40 0 0 cm"
    image = "/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/ASCIIHexDecode"
    form = "/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>"
    file = f"<</Type/Filespec/F({place})/UF({place})>>"
    url = f"<</Type/Filespec/FS/URL/F({place})>>"
    drawn = {"image": stream("00FF00>", f"{image}/F{file}"), "image-url": stream("00FF00>", f"{image}/F{url}"),
             "form": stream("", f"{form}/F{file}"),
             "reference": stream("", f"{form}/Ref<</F{file}/Page 0>>"),
             "opi": stream("", f"{form}/OPI<</2.0<</Type/OPI/Version 2.0/F{file}>>>>")}
    actions = {"launch": f"<</S/Launch/F{file}>>", "go": f"<</S/GoToR/F{file}/D[0/Fit]>>",
               "uri": f"<</S/URI/URI({place})>>",
               "import": f"<</S/ImportData/F{file}>>", "submit": f"<</S/SubmitForm/F{url}>>",
               "script": f"<</S/JavaScript/JS(app.launchURL\\('{place}'\\);)>>"}
    return {**{name: page_with(stream(f"{green} /X Do"), "/XObject<</X 5 0 R>>", drawing)
               for name, drawing in drawn.items()},
            **{name: page_with(stream(green), "", more=f"/OpenAction{action}/AA<</O{action}>>")
               for name, action in actions.items()}}


def forms(depth):
    """A page with a form that draws another one ten times, which draws another one ten times, and so on."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
               "<</Type/Page/Parent 2 0 R/MediaBox[0 0 40 40]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>",
               stream("/X Do")]
    for level in range(depth):
        more = f"/Type/XObject/Subtype/Form/BBox[0 0 40 40]/Resources<</XObject<</X {6 + level} 0 R>>>>"
        objects.append(stream("/X Do " * 10 if level < depth - 1 else "0 0 40 40 re f", more))
    return document(objects)


def page_with(content, resources, *objects, more=""):
    """A page of 40 by 40 points with a content stream. The first of `objects` has number 5; the catalog has `more`."""
    return document([f"<</Type/Catalog/Pages 2 0 R{more}>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
                     f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 40 40]/Contents 4 0 R/Resources<<{resources}>>>>",
                     content, *objects])


def bombs():
    """Small documents that take endless time or memory, by name."""
    pattern = ("/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep 0.0001/YStep 0.0001"
               "/Resources<<>>")
    return {"forms": forms(12), "operators": page_with(packed(b"0 0 40 40 re f\n" * 20_000_000), ""),
            "saves": page_with(packed(b"q " * 50_000_000), ""),
            "pattern": page_with(stream("/Pattern cs /P scn 0 0 40 40 re f"), "/Pattern<</P 5 0 R>>",
                                 stream("0 0 1 1 re f", pattern))}
