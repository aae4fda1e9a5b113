import BatchFetch
import Foundation
import Testing

/// Checks that the Swift snippets of the documentation come from the examples, which `make test` compiles and runs.
@Suite("Documentation") struct SnippetTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  private static func examples() throws -> String {
    let folders = ["Examples/LibraryCall/Sources", "Examples/LibraryCall/Tests", "Examples/Service/Sources"]
    return try folders.flatMap { try sources(in: $0) }.joined(separator: "\n")
  }

  /// The code blocks of `page` that are marked as Swift.
  private static func snippets(of page: String) -> [String] {
    page.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
  }

  /// The lines of `text` without indentation, because a snippet may be indented in the example.
  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test(arguments: [
    "README.md", "Documentation/cookbook.md", "Sources/Downloads/Downloads.docc/Downloads.md",
    "Sources/BatchFetch/BatchFetch.docc/TableOfIcons.md",
    "Sources/BatchFetch/BatchFetch.docc/ServingThumbnails.md",
    "Sources/BatchFetch/BatchFetch.docc/TestingWithAStubTransport.md",
    "Sources/ImageCache/ImageCache.docc/ImageCache.md",
  ])
  func `Every Swift snippet is part of an example`(page: String) throws {
    let example = Self.lines(of: try Self.examples()).joined(separator: "\n")
    let snippets = Self.snippets(of: try Self.text(page))

    #expect(!snippets.isEmpty)
    for snippet in snippets {
      #expect(example.contains(Self.lines(of: snippet).joined(separator: "\n")), "\(snippet)")
    }
  }

  @Test func `Every example in a documentation comment is compiled by the tests`() throws {
    let tests = try Self.sources(in: "Tests").map { Self.lines(of: $0).joined(separator: "\n") }
    let comments = try Self.sources(in: "Sources").map { source in
      let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      return lines.filter { $0.hasPrefix("///") }.map { $0.dropFirst(3) }.joined(separator: "\n")
    }
    let snippets = comments.flatMap { Self.snippets(of: $0.replacing("\n ", with: "\n")) }

    #expect(snippets.count >= 14)
    for snippet in snippets {
      let lines = Self.lines(of: snippet).joined(separator: "\n")
      #expect(tests.contains { $0.contains(lines) }, "\(snippet)")
    }
  }

  /// The texts of the Swift files in a folder.
  private static func sources(in folder: String) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
    return try paths.filter { $0.hasSuffix(".swift") }.map { try text("\(folder)/\($0)") }
  }

  private static let decoders: Set = [
    "libavif-dev", "libheif-dev", "libopenjp2-7-dev", "libjxl-dev", "libtiff-dev", "libraw-dev", "librsvg2-dev",
    "libpoppler-glib-dev", "libseccomp-dev",
  ]

  @Test(
    arguments: [
      ("README.md", ["zlib1g-dev"]), ("Sources/BatchFetch/BatchFetch.docc/BatchFetch.md", ["zlib1g-dev"]),
      ("Sources/ImageCache/ImageCache.docc/ImageCache.md", ["libcurl4-openssl-dev", "zlib1g-dev"]),
      (
        "Sources/Downloads/Downloads.docc/Downloads.md",
        [
          "libjpeg-dev", "libpng-dev", "libwebp-dev", "libdeflate-dev", "liblcms2-dev", "libxxhash-dev", "zlib1g-dev",
        ]
      ),
    ] as [(String, Set<String>)])
  func `The pages for users of the libraries name the system packages of the manifest`(
    page: String, others: Set<String>
  ) throws {
    let manifest = try Self.text("Package.swift")
    // The README alone names those of the program thumbs-decode.
    let decoders = page == "README.md" ? [] : Self.decoders
    let packages = Set(manifest.matches(of: /pkgConfig: "[^"]+", package: "([^"]+)"/).map { String($0.1) })
    let words = Set(try Self.text(page).split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))

    #expect(packages.count > 7 && packages.isSuperset(of: others))
    #expect(packages.subtracting(others).subtracting(decoders).subtracting(words).isEmpty)
  }

  /// Each library, with Basics if its page lists those types, and the least number of types.
  @Test(
    arguments: [
      (["Downloads", "Basics"], 45), (["ImageCache", "Basics"], 30), (["BatchFetch"], 15),
    ] as [([String], Int)])
  func `Every public type is in the topics of its library`(modules: [String], leastCount: Int) throws {
    let library = modules[0]
    let page = try Self.text("Sources/\(library)/\(library).docc/\(library).md")
    let topics = Set(page.matches(of: /- ``(\w+)``/).map { String($0.1) })
    let declaration = /(?m)^(?:@\w+ )*(?:public|open) (?:final |indirect )*(?:struct|class|enum|protocol|actor) (\w+)/
    let types = try modules.flatMap { try Self.sources(in: "Sources/\($0)") }.flatMap { source in
      source.matches(of: declaration).map { String($0.1) }
    }

    #expect(types.count >= leastCount)
    #expect(Set(types).subtracting(topics).isEmpty)
  }

  @Test func `The table of failure codes has every code, and marks those that are retryable`() throws {
    let sections = try Self.text("Documentation/formats.md").split(separator: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix("Codes\n") })
    let rows = section.split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /\| `([a-z_0-9]+)` \| [^|]* \| (yes|) ?\|/)
    }
    let documented = Set(rows.map { "\($0.1) \($0.2)" })
    #expect(documented == Set(FailureCode.declared.map { "\($0) \($0.isRetryable ? "yes" : "")" }))
  }
}
