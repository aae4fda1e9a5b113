"""Splits source text into code, comments, strings and raw identifiers.

`code` is the text with comments and strings blanked: same length, same lines, and only braces that count.
"""
import bisect
import dataclasses
import io
import re
import tokenize

SWIFT_REGEX = re.compile(r"/[^\s/](?:[^/\\\n]|\\.)*/")


@dataclasses.dataclass
class Piece:
    """A comment with its markers, the content of a string, or a raw identifier."""
    kind: str
    start: int
    end: int
    text: str


class Source:
    """The text of a file with its pieces."""

    def __init__(self, text, code, pieces):
        self.text, self.code, self.pieces = text, code, sorted(pieces, key=lambda piece: piece.start)
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def line(self, offset):
        """The line number of an offset, from 1."""
        return bisect.bisect_right(self.starts, offset)


class Scanner:
    """Reads Swift (with interpolation, raw strings and regex literals), C or JavaScript."""

    def __init__(self, text, language):
        self.text, self.language, self.position, self.pieces = text, language, 0, []
        self.code = list(text)

    def scan(self):
        self.read_code()
        return Source(self.text, "".join(self.code), self.pieces)

    def add(self, kind, start, end, text=None):
        self.pieces.append(Piece(kind, start, end, self.text[start:end] if text is None else text))
        self.blank(start, end, "_" if kind == "name" else " ")
        self.position = end

    def blank(self, start, end, mark=" "):
        for index in range(start, end):
            if self.code[index] != "\n":
                self.code[index] = mark

    def read_code(self, in_interpolation=False):
        depth = 0
        while self.position < len(self.text):
            if self.read_piece():
                continue
            character = self.text[self.position]
            depth += (character == "(") - (character == ")")
            if in_interpolation and depth < 0:
                return
            self.position += 1

    def read_piece(self):
        """Reads a comment, string, regex or raw identifier if there is one at the position."""
        start, text = self.position, self.text
        if text.startswith("//", start):
            end = text.find("\n", start)
            self.add("comment", start, len(text) if end < 0 else end)
        elif text.startswith("/*", start):
            self.add("comment", start, self.block_end(start))
        elif self.language == "swift" and (match := re.compile(r'(#*)("""|"|/)').match(text, start)):
            if match[2] == "/":
                return self.read_regex(start, match[1])
            self.read_swift_string(start, match[2], match[1])
        elif self.language == "swift" and text[start] == "`":
            self.add("name", start + 1, text.find("`", start + 1))
            self.position += 1
        elif self.language != "swift" and text[start] in "\"'`":
            self.read_string(start)
        else:
            return False
        return True

    def block_end(self, start):
        """The end of a /* comment */; those of Swift nest."""
        depth, position = 0, start
        for match in re.compile(r"/\*|\*/").finditer(self.text, start):
            depth += 1 if match[0] == "/*" else -1
            position = match.end()
            if depth == 0 or (match[0] == "*/" and self.language != "swift"):
                return position
        return len(self.text)

    def read_string(self, start):
        mark = self.text[start]
        match = re.compile(rf"{mark}((?:[^{mark}\\]|\\.)*){mark}", re.S).match(self.text, start)
        end = match.end() if match else start + 1
        self.add("string", start, end, " " + match[1] if match else "")

    def read_regex(self, start, hashes):
        before = self.text[:start].rstrip()[-1:]
        if hashes:
            end = self.text.find("/" + hashes, start + len(hashes) + 1)
            end += 1 + len(hashes)
        elif before in set("(,=:[{!&|?") and (match := SWIFT_REGEX.match(self.text, start)):
            end = match.end()
        else:
            return False
        self.blank(start, end)
        self.position = end
        return True

    def read_swift_string(self, start, quotes, hashes):
        """Interpolations are read as code, and blanked in the content."""
        first = self.position = start + len(hashes) + len(quotes)
        escape, content = "\\" + hashes, list(self.text[first:])
        while self.position < len(self.text) and not self.text.startswith(quotes + hashes, self.position):
            begin = self.position
            if self.text.startswith(escape + "(", begin):
                self.position += len(escape) + 1
                self.read_code(in_interpolation=True)
                content[begin - first:self.position + 1 - first] = "\0" * (self.position + 1 - begin)
            elif self.text.startswith(escape, begin):
                self.position += len(escape)
            self.position += 1
        end = self.position + len(quotes) + len(hashes)
        self.add("string", start, end, " " * (first - start) + "".join(content[:self.position - first]))


def python(text):
    """Docstrings count as comments, other strings as strings."""
    starts = [0, 0] + [match.end() for match in re.finditer("\n", text)]
    pieces, code, previous = [], list(text), None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start, end = (starts[row] + column for row, column in (token.start, token.end))
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            is_docstring = token.type == tokenize.STRING and previous in (None, tokenize.INDENT, tokenize.NEWLINE)
            is_comment = token.type == tokenize.COMMENT or is_docstring and token.string.endswith('"""')
            pieces.append(Piece("comment" if is_comment else "string", start, end, token.string.strip('rfb"\'')))
            code[start:end] = [character if character == "\n" else " " for character in token.string]
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            previous = token.type
    return Source(text, "".join(code), pieces)


def script(text):
    """Shell and make: comments, and the messages of echo, printf and fail."""
    pieces = [Piece("comment", match.start(1), match.end(1), match[1])
              for match in re.finditer(r"(?m)(?<!\S)(#(?!!).*)$", text)]
    pieces += [Piece("string", match.start(1), match.end(1), match[1])
               for match in re.finditer(r"(?m)\b(?:echo|printf|fail) +\"([^\"\n]*)\"", text)]
    return Source(text, text, pieces)


def document(text):
    """Markdown: everything but code blocks."""
    blanked = re.sub(r"(?ms)^ *```.*?^ *```", lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return Source(text, blanked, [Piece("document", 0, len(text), blanked)])


def read(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".swift":
        return Scanner(text, "swift").scan()
    if path.suffix in (".c", ".h", ".js", ".css"):
        return Scanner(text, "c").scan()
    return {".py": python, ".md": document}.get(path.suffix, script)(text)
