#!/usr/bin/env python3
"""Measures the sources and checks their wording: run.py [--root FOLDER] [--self-test] [PATH ...]

Two tables have a row per folder: the lengths of files and functions with the share of documented public declarations
(Swift and C in Sources and Tests), and the number of findings (all sources, scripts, makefiles and documents). Each
finding is then listed as `file:line: kind: text`; PATH limits the list to some files and folders.

The exit status is 1 if the list has a banned word, a headless opening (a comment that starts with "What", "Whether" or
the like), a British spelling, a public declaration without documentation, or a line over 120 columns. Test names that
are not sentences, and type names used twice, are listed without an effect on the status.
"""
import argparse
import collections
import os
import pathlib
import re
import sys

import allowed
import lexer
import measure
import words

COLUMNS = 120
SUFFIXES = {".swift", ".c", ".h", ".py", ".sh", ".mk", ".md", ".js", ".css"}
NAMES = {"Makefile", "run"}
FAILURES = ["banned word", "headless opening", "British spelling", "undocumented", "too wide"]
NOTES = ["test name", "same name"]


class Report:
    """The numbers and findings of all files."""

    def __init__(self):
        self.findings, self.folders, self.types = [], collections.defaultdict(Folder), collections.defaultdict(list)
        self.chapters = []

    def add(self, path, source):
        folder = self.folders[folder_of(path)]
        found = list(findings(path, source))
        self.findings += [(path, line, kind, text) for line, kind, text in found]
        folder.kinds.update(kind for _, kind, _ in found)
        if path.parts[0] in ("Sources", "Tests") and path.suffix in (".swift", ".c", ".h"):
            folder.measure(source, path.suffix, path.suffix == ".swift" and path.parts[0] == "Sources")
        if path.parts[0] == "Sources" and path.suffix == ".swift":
            self.chapters.append(source.text.count("\n"))
            for name, offset in measure.types(source):
                self.types[name].append((path, source.line(offset)))

    def print_chapters(self):
        """The lengths of the Swift files in Sources, and the number of their types that are not private."""
        lines, shared = self.chapters, sum(map(len, self.types.values()))
        print(f"Swift in Sources: {len(lines)} files, {sum(lines)} lines; median/95 %/largest {spread(lines)}; "
              f"{sum(count < 30 for count in lines)} files under 30 lines; {shared} types that are not private\n")

    def add_same_names(self):
        for name, places in sorted(self.types.items()):
            if len(places) > 1 and name not in allowed.REPEATED_TYPES:
                others = ", ".join(f"{path.name}:{line}" for path, line in places[1:])
                self.findings.append((*places[0], "same name", f"{name}, also in {others}"))
                self.folders[folder_of(places[0][0])].kinds["same name"] += 1


class Folder:
    """The numbers of one folder."""

    def __init__(self):
        self.files, self.functions, self.kinds = [], [], collections.Counter()
        self.public = self.documented = self.examples = self.blocks = 0

    def measure(self, source, suffix, is_api):
        self.files.append(source.text.count("\n"))
        self.functions += [length for _, length in measure.functions(source, suffix)]
        blocks = measure.blocks(source)
        self.blocks += len(blocks)
        self.examples += sum(block.is_documentation and "\0\0\0" in block.text for block in blocks)
        declarations = list(measure.public_declarations(source)) if is_api else []
        self.public += len(declarations)
        self.documented += sum(is_documented for _, _, is_documented in declarations)

    def sizes(self):
        share = f"{100 * self.documented // self.public} %" if self.public else "-"
        return [len(self.files), sum(self.files), spread(self.files), len(self.functions), spread(self.functions),
                self.public, share, self.examples, self.blocks]

    def __iadd__(self, other):
        for name in ("files", "functions", "kinds", "public", "documented", "examples", "blocks"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


def folder_of(path):
    depth = 2 if path.parts[0] in ("Sources", "Tests") else 1
    return "/".join(path.parts[:depth]) if len(path.parts) > depth else "/".join(path.parts[:-1]) or "."


def findings(path, source):
    """Line, kind and text of each finding in one file."""
    for line, kind, text in unfiltered(path, source):
        if not allowed.is_allowed(path, kind, text):
            yield line, kind, text


def unfiltered(path, source):
    for offset, text in prose(path, source):
        for kind, place, word, hint in words.find(text):
            yield source.line(offset + place), kind, f"\"{word}\" ({hint}): {excerpt(text, place)}"
    for block in measure.blocks(source) if path.suffix != ".md" else []:
        opening = re.match(r"\s*(.*)", block.text)
        if words.HEADLESS.match(opening[1]):
            yield source.line(block.start), "headless opening", opening[1].strip()[:90]
    if path.suffix == ".swift" and path.parts[0] == "Sources":
        for offset, text, is_documented in measure.public_declarations(source):
            if not is_documented:
                yield source.line(offset), "undocumented", text
    if path.suffix == ".swift":
        yield from test_names(source)
    if path.suffix not in (".css", ".js"):
        yield from wide_lines(path, source)


def prose(path, source):
    """Offsets and texts of comments, test names, messages and documents."""
    for block in measure.blocks(source):
        yield block.start, block.text
    for piece in source.pieces:
        if piece.kind in ("document", "name") or piece.kind == "string" and is_message(piece.text):
            yield piece.start, piece.text


def is_message(text):
    """True if a string has two words in a row and is not markup, SQL, or an HTTP field."""
    is_code = re.search(r"[<{};]|SELECT|INSERT|UPDATE|CREATE|HTTP/1|^\s*[\w-]+: \S+$", text)
    return re.search(r"[A-Za-z]{2,},? [A-Za-z]{2,}", text) and not is_code


def test_names(source):
    """Test names that are not in backticks, do not start with a capital letter, or end with a period."""
    for match in re.finditer(r"@Test\b", source.code):
        name = next((piece for piece in source.pieces if piece.kind == "name" and piece.start > match.end()), None)
        function = re.compile(r"[^{}]*?\bfunc +(\w+|`)").match(source.code, match.end())
        if function and function[1] != "`":
            yield source.line(match.start()), "test name", f"{function[1]}: not a sentence in backticks"
        elif function and name and not re.match(r"[A-Z0-9].*[^.]$", name.text):
            yield source.line(match.start()), "test name", name.text


def wide_lines(path, source):
    """Lines over 120 columns, except in tables and code blocks of documents."""
    lines = (source.code if path.suffix == ".md" else source.text).split("\n")
    for number, line in enumerate(map(str.rstrip, lines), 1):
        if len(line) > COLUMNS and not (path.suffix == ".md" and line.startswith("|")):
            yield number, "too wide", f"{len(line)} columns: {line.strip()[:60]}"


def excerpt(text, place):
    begin = max(text.rfind("\n", 0, place) + 1, place - 50)
    return re.sub(r"[\s\0]+", " ", text[begin:begin + 110]).strip()


def spread(values):
    """Median, 95th percentile (nearest rank) and largest."""
    values = sorted(values)
    if not values:
        return "-"
    return "/".join(str(values[max(0, -(-len(values) * part // 100) - 1)]) for part in (50, 95, 100))


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git" and not name.startswith(".build"))
        if folder == str(root) and "thumbs" in folders:
            folders.remove("thumbs")
        for path in (pathlib.Path(folder, name) for name in sorted(names)):
            if path.is_file() and (path.suffix in SUFFIXES or path.name in NAMES):
                yield path


def print_tables(folders):
    """One table of sizes and documentation, and one of findings, each with a row per folder."""
    total = Folder()
    for folder in folders.values():
        total += folder
    rows = [*sorted(folders.items()), ("all", total)]
    print_row(["Sizes: median/95 %/largest", "files", "lines", "file", "functions", "function", "public", "documented",
               "examples", "comments"])
    for name, folder in rows:
        if folder.functions:
            print_row([name, *folder.sizes()])
    print()
    print_row(["Findings", *FAILURES, *NOTES])
    for name, folder in rows:
        if folder.kinds or name == "all":
            print_row([name, *(folder.kinds[kind] or "-" for kind in FAILURES + NOTES)])
    print()


def print_row(cells):
    widths = [27, 11, 11, 11, 11, 11, 11, 11, 11, 11] if len(cells) == 10 else [27, 11, 16, 16, 12, 8, 9, 9]
    print(f"{cells[0]:{widths[0]}}" + "".join(f" {cell:>{width}}" for cell, width in zip(cells[1:], widths[1:])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="test the rules on small inputs")
    parser.add_argument("path", nargs="*", help="list findings in these files and folders only")
    options = parser.parse_args()
    if options.self_test:
        import selftest
        return selftest.execute()
    root, report = options.root.resolve(), Report()
    for path in files(root):
        report.add(path.relative_to(root), lexer.read(path))
    report.add_same_names()
    print_tables(report.folders)
    report.print_chapters()
    wanted = [root.joinpath(path).resolve() for path in options.path] or [root]
    found = [finding for finding in report.findings
             if any((root / finding[0]).is_relative_to(path) for path in wanted)]
    for path, line, kind, text in sorted(found):
        print(f"{path}:{line}: {kind}: {text}")
    failures = sum(kind in FAILURES for _, _, kind, _ in found)
    print(f"{failures} findings to correct, {len(found) - failures} to consider.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
