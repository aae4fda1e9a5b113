"""Finds functions, declarations and comment blocks in a source that `lexer` has read."""
import dataclasses
import re

SWIFT_FUNCTION = re.compile(
    r"(?m)(?<![\w.])(?:func\b|(?:convenience |required |override |public |private |internal |fileprivate |package )*"
    r"init[?!]?(?=\s*[(<])|deinit\b|subscript\b|var\b)")
PUBLIC = re.compile(
    r"(?m)^ *(?:@\w+(?:\([^)\n]*\))? +)*"
    r"(?:(?:static|final|override|class|nonisolated|convenience|required|mutating) +)*"
    r"(?:public|open) +(?:(?:static|final|override|class|indirect|nonisolated|convenience|required|mutating|lazy|weak"
    r"|unowned|consuming|(?:private|internal)\(set\)) +)*"
    r"(class|struct|enum|protocol|actor|func|var|let|init|subscript|typealias|associatedtype|case|macro)\b[^\n]*")
TYPE = re.compile(r"(?m)^ *((?:[\w()@]+ +)*)(?:struct|enum|class|actor|protocol|typealias) +([A-Z]\w*)")
MARKERS = re.compile(r"(?m)^[ \t]*(?:///?|/\*+|\*/?|#+|[rf]*\"\"\")|\*/$|\"\"\"$")


@dataclasses.dataclass
class Block:
    """Comment lines that belong together. In `text`, spaces replace the markers, so offsets stay the same."""
    start: int
    text: str
    is_documentation: bool


def blocks(source):
    """The comments of a source; adjacent lines of one kind are one block."""
    result, previous = [], None
    for piece in (piece for piece in source.pieces if piece.kind == "comment"):
        raw = source.text[piece.start:piece.end]
        marker = re.match(r"///?|/\*\*?|#|[rf]*\"+|", raw)[0]
        line_start = source.text.rfind("\n", 0, piece.start) + 1
        is_alone = not source.text[line_start:piece.start].strip()
        joins = (previous and is_alone and previous[1] == marker and "\n" not in raw
                 and not source.text[previous[0]:piece.start].strip(" \n")
                 and source.text.count("\n", previous[0], piece.start) == 1)
        text = MARKERS.sub(lambda mark: " " * len(mark[0]), raw)
        if joins:
            block = result[-1]
            block.text += source.text[block.start + len(block.text):piece.start] + text
        else:
            result.append(Block(piece.start, text, marker in ("///", "/**")))
        previous = (piece.end, marker) if is_alone else None
    for block in result:
        block.text = re.sub(r"(?ms)^ *```.*?```", lambda code: re.sub(r"[^\n]", "\0", code[0]), block.text)
    return result


def matching(code, opening):
    """The offset of the bracket that closes the one at `opening`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    closing, depth = pairs[code[opening]], 0
    for position in range(opening, len(code)):
        depth += (code[position] == code[opening]) - (code[position] == closing)
        if depth == 0:
            return position
    return len(code) - 1


def swift_functions(source):
    """Start and end of functions, initializers, subscripts and computed properties that have a body.

    A property with observers (`willSet`, `didSet`) or with a closure as its initial value is not computed. Accessors
    belong to their property. The lines of closures and nested functions count for the enclosing function, too.
    """
    code = source.code
    for match in SWIFT_FUNCTION.finditer(code):
        if match[0].endswith("var"):
            body = re.compile(r" +\w+ *:[^={}\n]*\{").match(code, match.end())
            if not body or re.match(r"\s*(?:willSet|didSet)\b", code[body.end():body.end() + 200]):
                continue
            opening = body.end() - 1
        else:
            opening = swift_body(code, match.end())
            if opening is None:
                continue
        yield match.start(), matching(code, opening)


def swift_body(code, position):
    """The opening brace of the function whose name or parameters begin at `position`; None if it has no body."""
    parameters = re.compile(r"[^(){}]*\(").match(code, position)
    if parameters:
        position = matching(code, parameters.end() - 1) + 1
    opening = code.find("{", position)
    lines = code[position:opening].split("\n")
    if opening < 0 or re.search(r"[};]|(?<!=)=(?!=)", code[position:opening]):
        return None
    is_signature = all(re.match(r"\s*(?:async|throws|rethrows|->|where|$)", line) for line in lines[1:])
    return opening if is_signature else None


def c_functions(source):
    """Start and end of the functions of a C file: bodies at the top level that follow a parameter list."""
    code, position, begin = re.sub(r"(?m)^ *#(?:[^\n]*\\\n)*[^\n]*", lambda line: re.sub(r"[^\n]", " ", line[0]),
                                   source.code), 0, 0
    while (match := re.compile(r"[;{]").search(code, position)):
        position = match.end()
        if match[0] == "{":
            position = matching(code, match.start()) + 1
            head = code[begin:match.start()]
            if head.rstrip().endswith(")") and "=" not in head:
                yield begin + len(head) - len(head.lstrip()), position - 1
        begin = position


def functions(source, suffix):
    found = {".swift": swift_functions, ".c": c_functions, ".h": c_functions}.get(suffix)
    spans = found(source) if found else []
    return [(start, source.line(end) - source.line(start) + 1) for start, end in spans]


def public_declarations(source):
    """Yields offset, first line and documented (true or false) of each `public` or `open` declaration.

    An override inherits its documentation, and counts as documented.
    """
    documented = {source.line(block.start + len(block.text)) for block in blocks(source) if block.is_documentation}
    lines = source.text.split("\n")
    for match in PUBLIC.finditer(source.code):
        line = source.line(match.start() + len(match[0]) - len(match[0].lstrip()))
        above = line - 1
        while above > 0 and re.match(r"\s*(@|#if|\))", lines[above - 1]) and above not in documented:
            above -= 1
        yield match.start(), lines[line - 1].strip(), above in documented or "override" in match[0]


def types(source):
    """Names and offsets of the types that a Swift source declares, without private ones."""
    return [(match[2], match.start(2)) for match in TYPE.finditer(source.code) if "private" not in match[1]]
