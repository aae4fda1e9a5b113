import BatchFetch
import Foundation
import Glibc
import TestSupport
import Testing

@testable import thumbs

@Suite struct OutputWriterTests {
  private func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status
  }

  @Test func `Missing directories are created, and contain nothing but the files written`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path("a/b/c/"))

    #expect(try writer.write([1, 2, 3], as: "x.png") == .written)
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path("a/b/c")) == ["x.png"])
    #expect(try status(root.path("a/b/c/x.png")).st_mode & 0o777 & ~0o644 == 0)
  }

  @Test func `An unchanged file is left alone, and a changed one is replaced`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path, replacement: .any)
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    _ = try writer.write(bytes, as: "x.png")
    let before = try status(root.path("x.png"))

    #expect(try writer.write(bytes, as: "x.png") == .unchanged)
    #expect(try status(root.path("x.png")).st_ino == before.st_ino)

    var other = bytes
    other[199_999] ^= 1
    #expect(try writer.write(other, as: "x.png") == .written)
    #expect(try writer.write([], as: "x.png") == .written)
    #expect(try root.files() == ["x.png"])
  }

  @Test func `A file of another program is kept, and is not an error if it has the same bytes`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path)
    _ = try root.write([9], as: "x.png")

    #expect(try writer.write([9], as: "x.png") == .unchanged)
    let error = #expect(throws: OutputError.self) { try writer.write([8], as: "x.png") }
    #expect(error?.cause == .notOwn && error?.failureCode == .outputExists)
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: root.path("x.png")))) == [9])
    #expect(try root.files() == ["x.png"])
  }

  @Test func `A link is never followed, and replaced only if any file may be replaced`() throws {
    let root = try TemporaryDirectory()
    let target = try root.write([9], as: "target")
    try #require(symlink(target, root.path("x.png")) == 0)

    #expect(throws: OutputError.self) { try OutputWriter(directory: root.path).write([9], as: "x.png") }
    #expect(try OutputWriter(directory: root.path, replacement: .any).write([8], as: "x.png") == .written)
    #expect(try status(root.path("x.png")).st_mode & S_IFMT == S_IFREG)
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: target))) == [9])
  }

  @Test(arguments: [OutputWriter.Replacement.own, .any])
  func `A reserved file and a link to one are always kept`(replacement: OutputWriter.Replacement)
    throws
  {
    let root = try TemporaryDirectory()
    let path = try root.write([9], as: "x.png")
    try #require(symlink(path, root.path("link.png")) == 0)
    let reserved = ReservedFiles()
    reserved.insert(try #require(FileIdentity(path: path)), as: .source)
    let writer = try OutputWriter(directory: root.path, replacement: replacement, reserved: reserved)

    for name in ["x.png", "link.png"] {
      let error = #expect(throws: OutputError.self) { try writer.write([8], as: name) }
      #expect(error?.cause == .reserved(.source) && error?.failureCode == .outputConflict)
    }
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == [9])
  }

  @Test func `A file belongs to its first owner for the rest of the run`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path, replacement: .any)

    #expect(try writer.write([1], as: "x.png", for: "\u{E9}") == .written)
    let error = #expect(throws: OutputError.self) { try writer.write([2], as: "x.png", for: "e\u{301}") }
    #expect(error?.cause == .taken)
    #expect(try writer.write([3], as: "x.png", for: "\u{E9}") == .written)
  }

  @Test func `Subdirectories are created, and a file in one is replaced or left alone like any other`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path)

    #expect(try writer.write([1], as: "a/b/x.png") == .written)
    #expect(try writer.write([1], as: "a/b/x.png") == .unchanged)
    #expect(try writer.write([2], as: "a/y.png") == .written)
    #expect(throws: OutputError.self) { try writer.write([2], as: "a/b/x.png") }
    #expect(try OutputWriter(directory: root.path, replacement: .any).write([2], as: "a/b/x.png") == .written)
    #expect(try root.files() == ["a"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path("a")).sorted() == ["b", "y.png"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path("a/b")) == ["x.png"])
  }

  @Test func `A subdirectory that was removed during the run is created again`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path)
    for _ in 1...2 {
      #expect(try writer.write([1], as: "a/x.png") == .written)
      try FileManager.default.removeItem(atPath: root.path("a"))
    }
  }

  @Test(arguments: [OutputWriter.Replacement.own, .any])
  func `A link or a file in place of a subdirectory is never followed or replaced`(
    replacement: OutputWriter.Replacement
  ) throws {
    let (root, other) = (try TemporaryDirectory(), try TemporaryDirectory())
    try #require(symlink(other.path, root.path("link")) == 0)
    try #require(symlink("nowhere", root.path("dangling")) == 0)
    _ = try root.write([9], as: "file")
    let writer = try OutputWriter(directory: root.path, replacement: replacement)

    for name in ["link", "dangling", "file"] {
      let error = #expect(throws: OutputError.self) { try writer.write([1], as: "\(name)/x.png") }
      #expect(error?.cause == .notDirectory && error?.failureCode == .outputFailed && error?.isFatal == false)
    }
    #expect(try other.files() == [])
    #expect(try root.files() == ["dangling", "file", "link"])
  }

  @Test(arguments: ["../x.png", "../\u{301}.png", "/x.png", "a/../x.png", "a//x.png", "a/", "a/."])
  func `A path that leads out of the directory is refused`(name: String) throws {
    let root = try TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: root.path("out"), withIntermediateDirectories: true)

    #expect(throws: OutputError.self) { try OutputWriter(directory: root.path("out")).write([1], as: name) }
    #expect(try root.files() == ["out"])
  }

  @Test func `A directory that cannot be created is an error`() throws {
    let root = try TemporaryDirectory()
    let file = try root.write("x", as: "file")

    for path in [file, file + "/below", "/proc/nowhere/thumbs", ""] {
      let error = #expect(throws: OutputError.self) { try OutputWriter(directory: path) }
      #expect(error?.action == .create)
      #expect(error?.path.isEmpty == path.isEmpty)
    }
  }

  @Test func `A file that cannot be renamed into place is an error and leaves no temporary file`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path)
    try FileManager.default.createDirectory(atPath: root.path("taken"), withIntermediateDirectories: true)

    let error = #expect(throws: OutputError.self) { try writer.write([1], as: "taken") }
    #expect(error?.description == "Cannot write \(root.path("taken")): Is a directory.")
    #expect(error?.isFatal == false)
    #expect(try root.files() == ["taken"])
  }
}
