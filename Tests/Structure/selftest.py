"""Tests that each rule reports bad text and accepts good text."""
import contextlib
import io
import pathlib
import unittest

import lexer
import measure
import run
import words


def swift(text):
    return lexer.Scanner(text, "swift").scan()


def c(text):
    return lexer.Scanner(text, "c").scan()


def kinds(text, path="Sources/M/A.swift", read=swift):
    return [(line, kind) for line, kind, _ in run.findings(pathlib.Path(path), read(text))]


def banned(text):
    return [word for kind, _, word, _ in words.find(text) if kind == "banned word"]


def british(text):
    return [word for kind, _, word, _ in words.find(text) if kind == "British spelling"]


class LexerTest(unittest.TestCase):
    def test_swift_strings_and_comments_are_no_code(self):
        for text in ['let a = "}"', 'let a = #"\\"}"#', 'let a = """\n  "}\n  """', "/* { /* } */ { */", "// {",
                     'let a = "\\(f("}") + "{")"', "x.replacing(/[{\"]/, with: y)", "a.matches(of: #/{\"/#)"]:
            code = swift(text + "\n").code
            self.assertEqual((code.count("{"), code.count("}")), (0, 0), text)
            self.assertEqual(len(code), len(text) + 1, text)

    def test_division_is_no_regex(self):
        self.assertEqual(swift("let a = b / c // d / e {").code.strip(), "let a = b / c")

    def test_interpolation_is_not_content(self):
        [outer, inner] = swift('let a = "there are \\(items[")"]) of them" { }').pieces
        self.assertEqual(" ".join(outer.text.replace("\0", " ").split()), "there are of them")
        self.assertEqual(inner.text.strip(), ")")

    def test_c_characters_and_strings(self):
        self.assertEqual(c("char a = '\"', b = '{'; // {\n").code.count("{"), 0)

    def test_python_docstrings_are_comments(self):
        source = lexer.python('def f():\n    """Returns one."""\n    return "a value"  # One.\n')
        self.assertEqual([piece.kind for piece in source.pieces], ["comment", "string", "comment"])

    def test_shell_comments_and_messages(self):
        source = lexer.script('#!/bin/sh\n# One.\necho "Two words"  # Three\na=${b#c}\n')
        self.assertEqual([piece.text for piece in source.pieces], ["# One.", "Two words", "# Three"])

    def test_code_blocks_of_documents_are_not_prose(self):
        self.assertEqual(kinds("Text.\n```console\n$ shall\n```\n", "README.md", lexer.document), [])


class MeasureTest(unittest.TestCase):
    def lengths(self, text, suffix=".swift"):
        return [length for _, length in measure.functions({".swift": swift, ".c": c}[suffix](text), suffix)]

    def test_swift_functions(self):
        for text, lengths in [
            ("func a() { }", [1]), ("func a(\n  b: () -> Void = {}\n) async throws -> C\nwhere D == E {\n}\n", [5]),
            ("init?(a: B) {\n}\n", [2]), ("subscript(a: B) -> C {\n  a\n}\n", [3]), ("deinit {\n}\n", [2]),
            ("var a: Int {\n  1\n}\n", [3]), ("var a: Int = 1 {\n  didSet {\n  }\n}\n", []), ("var a = b {\n}\n", []),
            ("protocol P {\n  func a()\n  init(b: C)\n  var d: E { get }\n}\n", [1]), ("self.init(a) { }", []),
            ("func `A name {`() {\n  func b() {\n  }\n}\n", [4, 2]), ("x.map { $0.func() }", []),
        ]:
            self.assertEqual(self.lengths(text), lengths, text)

    def test_c_functions(self):
        text = "#define A(x) {\nstatic int f(int a) {\n  if (a) {\n  }\n  return 1;\n}\n"
        text += "typedef struct S { int a; } S;\nint b[] = {1};\nvoid g(void);\nvoid\nh(void)\n{\n}\n"
        self.assertEqual(self.lengths(text, ".c"), [5, 4])

    def test_spread_is_median_95th_percentile_and_largest(self):
        self.assertEqual(run.spread(range(1, 101)), "50/95/100")
        self.assertEqual(run.spread([]), "-")

    def test_blocks(self):
        source = swift("/// One\n/// two.\n// Three.\nlet a = 1  // Four.\n// Five.\n\n// Six.\n"
                       "/* Seven\n * eight. */\n")
        texts = [" ".join(block.text.split()) for block in measure.blocks(source)]
        self.assertEqual(texts, ["One two.", "Three.", "Four.", "Five.", "Six.", "Seven eight."])

    def test_examples_in_documentation_are_counted_and_not_prose(self):
        [block] = measure.blocks(swift("/// Returns one.\n/// ```swift\n/// let shall = 1\n/// ```\n"))
        self.assertIn("\0\0\0", block.text)
        self.assertEqual(banned(block.text), [])


class FindingTest(unittest.TestCase):
    def test_undocumented(self):
        text = "public struct A {\n  public init() {}\n}\n"
        self.assertEqual(kinds(text), [(1, "undocumented"), (2, "undocumented")])
        self.assertEqual(kinds("public func a() {}\n", "Tests/M/A.swift"), [])
        for text in ["/// A.\n@MainActor\npublic final class A {}\n", "struct A {}\n", "/// A.\npublic let a = 1\n",
                     "/// A.\nopen class A {}\n", "public extension A {}\n", "public override func a() {}\n"]:
            self.assertEqual(kinds(text), [], text)

    def test_headless_openings(self):
        for opening in ("What is read so far.", "Who joins later.", "Whether it ended.", "How many.", "When it ends."):
            self.assertEqual(kinds(f"/// {opening}\nlet a = 1\n"), [(1, "headless opening")])
            self.assertEqual(kinds(f"# {opening}\n", "Tests/a.sh", lexer.script), [(1, "headless opening")])
        for text in ("/// Returns what is left.\n", "/// The end,\n/// when it came.\n", "/// However many.\n"):
            self.assertEqual(kinds(text), [], text)

    def test_wide_lines(self):
        self.assertEqual(kinds("let a = 1 //" + "x" * 109), [(1, "too wide")])
        self.assertEqual(kinds("let a = 1 //" + "x" * 108), [])
        self.assertEqual(kinds(f"| {'x' * 130} |\n```\n{'x' * 130}\n```\n", "README.md", lexer.document), [])
        self.assertEqual(kinds("x" * 121, "README.md", lexer.document), [(1, "too wide")])
        self.assertEqual(kinds("x" * 121, "Sources/a.css", c), [])

    def test_names_of_tests(self):
        for text in ["@Test func `is lower`() {}", "@Test(\"A name\") func a() {}", "@Test func `Ends so.`() {}"]:
            self.assertEqual(kinds(text), [(1, "test name")], text)
        for text in ["@Test func `A row fails`() {}", "@Test(arguments: [1]) func `304 is fresh`(a: Int) {}"]:
            self.assertEqual(kinds(text), [], text)

    def test_where_words_are_looked_for(self):
        for text in ["// A picture.\n", "/* A picture. */\n", "f(\"a good picture\")\n", "func `A picture`() {}\n"]:
            self.assertEqual(kinds(text), [(1, "banned word")], text)
        for text in ["let picture = 1\n", "let a = \"picture\"\n", "// A `picture`.\n", "// In a/pictures/b.\n"]:
            self.assertEqual(kinds(text), [], text)
        self.assertEqual(kinds("/// One of\n/// its own.\n"), [(1, "banned word")])

    def test_types_of_one_name(self):
        report = run.Report()
        for name, text in [("A", "struct Wish {}"), ("B", "enum Wish {}"),
                           ("C", "private enum Wish {}\nstruct State {}"), ("D", "struct State {}")]:
            report.add(pathlib.Path(f"Sources/M/{name}.swift"), swift(text + "\n"))
        report.add_same_names()
        self.assertEqual([(str(path), text) for path, _, _, text in report.findings],
                         [("Sources/M/A.swift", "Wish, also in B.swift:1")])

    def test_the_tables_are_printed(self):
        report, output = run.Report(), io.StringIO()
        report.add(pathlib.Path("Sources/M/A.swift"), swift("/// A.\npublic func a() {}\n"))
        with contextlib.redirect_stdout(output):
            run.print_tables(report.folders)
        self.assertIn("100 %", output.getvalue())


class WordsTest(unittest.TestCase):
    def test_banned(self):
        for text in """a picture|the address of an icon|the server's answer|asks the server|it is told|it says nothing
            |the wishes of a row|it shall stop|beside it|it is none|one that is none of these|brings the bytes
            |on its way|what came meanwhile|is heeded|amid its work|renewed|is good enough|done by halves|such a file
            |a thread of its own|made anew|it tells the end|once more
            |also where it ends|one object a line|one queue a host
            |Who joins later waits.""".split("|"):
            self.assertEqual(len(banned(text)), 1, text)

    def test_not_banned(self):
        for text in """an IP address|AddressSanitizer|the address sanitizer|a loopback address|its address in memory
            |a private address|if there is none|besides|a DNS answer|tells a source apart
            |it tells backup tools to skip it|cannot be told apart|Such a row fails.|RFC 9111 says that|`cancelled`
            |a multi-picture file|as such|in this way|task|a basket|more than a line|per host|``address``
            |The caller who joined|addresses of the host.""".split("|"):
            self.assertEqual(banned(text), [], text)

    def test_british(self):
        for word in """colour Colours grey centred behaviour neighbouring normalised optimisation serialising cancelled
            cancelling licence catalogue artefact towards afterwards modelled signalled initialiser""".split():
            self.assertEqual(british(f"The {word} of it"), [word])

    def test_not_british(self):
        text = """color gray center behavior normalized canceled cancellation license catalog artifact toward noise
            precise promise raise exercise comprise advertise otherwise four
            hour pour signal premise `cancelled` realistic status cancelled "cancelled" """
        self.assertEqual(british(text), [])


def execute():
    suite = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromTestCase,
                                   (LexerTest, MeasureTest, FindingTest, WordsTest)))
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1
