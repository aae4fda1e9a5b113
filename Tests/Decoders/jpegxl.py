"""JPEG XL files by cjxl, and their pixels by djxl."""
import functools

from cases import Case, Group, tool
import samples

LOSSLESS = ["-d", "0"]


def encode(folder, name, source, *options):
    tool("cjxl", folder / source, folder / f"{name}.jxl", "-e", "3", "--quiet", *options)
    return folder / f"{name}.jxl"


def decoded(path, *_):
    target = path.with_suffix(".jxl.png")
    tool("djxl", path, target, "--quiet")
    return samples.pixels(target)


def groups(folder):
    def case(name, source, *options):
        path = encode(folder, name, source, *options)
        return Case(path, functools.partial(decoded, path))

    def lossless(source, *options):
        path = encode(folder, f"lossless-{source}{len(options)}", source, *LOSSLESS, *options)
        return Case(path, lambda *_: samples.pixels(folder / source))

    exact = [lossless(f"{name}.png", *options) for name in ("photo", "transparent", "gray", "gray-alpha", "profile")
             for options in ([], ["--container=1"])]
    lossy = [case(f"lossy-{name}-{distance}", f"{name}.png", "-d", distance)
             for name in ("photo", "transparent", "gray", "gray-alpha") for distance in ("0.5", "2")]
    lossy += [case("modular", "photo.png", "-m", "1", "-d", "1"), case("progressive", "photo.png", "-p", "-d", "1"),
              case("premultiplied", "transparent.png", "--premultiply=1", "-d", "1"),
              case("from-jpeg", "orientation-1.jpg", "--lossless_jpeg=1"),
              case("pixels-of-jpeg", "orientation-1.jpg", "--lossless_jpeg=0", "-d", "1")]
    deep = [case("16", "photo-16.png", *LOSSLESS), case("16-lossy", "photo-16.png", "-d", "1")]
    turned = [case(f"oriented-{orientation}", f"orientation-{orientation}.jpg", "--lossless_jpeg=1")
              for orientation in range(1, 9)]
    upright = [Case(turned[orientation - 1].path, lambda *_, orientation=orientation:
                    samples.upright(folder / f"orientation-{orientation}.jpg")) for orientation in range(1, 9)]
    return [
        Group("JPEG XL: lossless", "equal to the source", exact, 0),
        Group("JPEG XL: lossy, and from JPEG", "the same library", lossy, 1),
        Group("JPEG XL: 16 bits", "Pillow cuts off the lower byte", deep, 1),
        Group("JPEG XL: orientation", "the same library", turned, 1),
        Group("JPEG XL: orientation of JPEG", "another inverse transform and upsampling", upright, 8, 0.5),
    ]
