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

  @Test func `missing directories are made, and nothing but the files is left in them`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path("a/b/c/"))
    #expect(try writer.write([1, 2, 3], as: "x.png") == .written)
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path("a/b/c")) == ["x.png"])
    #expect(try status(root.path("a/b/c/x.png")).st_mode & 0o777 & ~0o644 == 0)
  }

  @Test func `an unchanged file is the same file afterwards; a changed one is replaced`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path)
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

  @Test func `a link is replaced, not followed`() throws {
    let root = try TemporaryDirectory()
    let target = try root.write([9], as: "target")
    try #require(symlink(target, root.path("x.png")) == 0)
    #expect(try OutputWriter(directory: root.path).write([9], as: "x.png") == .written)
    #expect(try status(root.path("x.png")).st_mode & S_IFMT == S_IFREG)
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: target))) == [9])
  }

  @Test func `a directory that cannot be is an error before the run`() throws {
    let root = try TemporaryDirectory()
    let file = try root.write("x", as: "file")
    for path in [file, file + "/below", "/proc/nowhere/thumbs", ""] {
      let error = #expect(throws: OutputError.self) { try OutputWriter(directory: path) }
      #expect(error?.action == .create)
      #expect(error?.path.isEmpty == path.isEmpty)
    }
  }

  @Test func `what cannot be put into its place is an error that names it, and leaves no temporary file`() throws {
    let root = try TemporaryDirectory()
    let writer = try OutputWriter(directory: root.path)
    try FileManager.default.createDirectory(atPath: root.path("taken"), withIntermediateDirectories: true)
    let error = #expect(throws: OutputError.self) { try writer.write([1], as: "taken") }
    #expect(error?.description == "Cannot write \(root.path("taken")): Is a directory.")
    #expect(error?.isFatal == false)
    #expect(try root.files() == ["taken"])
  }
}
