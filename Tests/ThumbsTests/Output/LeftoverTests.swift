import Foundation
import Glibc
import TestSupport
import Testing

@testable import thumbs

@Suite struct LeftoverTests {
  /// A process ID that does not exist: far above the maximum on Linux (`PID_MAX_LIMIT`, 2^22).
  private static let dead = pid_t.max

  @Test func `Temporary files of a killed run are removed, and all other files stay`() throws {
    let root = try TemporaryDirectory()
    let dead = Self.dead
    let others = [
      ".thumbs-\(getpid())-1.tmp", ".thumbs-1-1.tmp", ".thumbs-\(dead)-x.tmp", ".thumbs-\(dead)-01.tmp",
      ".thumbs-\(dead)-1", ".thumbs--1-1.tmp", "a.thumbs-\(dead)-1.tmp", ".other",
    ]
    for name in others + [".thumbs-\(dead)-1.tmp", ".thumbs-\(dead)-77.tmp"] { _ = try root.write([1], as: name) }

    _ = try OutputWriter(directory: root.path)

    let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
    #expect(names.sorted() == others.sorted())
  }

  @Test func `A temporary file stays as long as a process in another container holds its lock`() throws {
    let root = try TemporaryDirectory()
    let name = ".thumbs-\(Self.dead)-1.tmp"
    let file = open(try root.write([1], as: name), O_WRONLY)
    try #require(flock(file, LOCK_SH) == 0)

    _ = try OutputWriter(directory: root.path)
    #expect(FileManager.default.fileExists(atPath: root.path(name)))

    close(file)

    _ = try OutputWriter(directory: root.path)
    #expect(!FileManager.default.fileExists(atPath: root.path(name)))
  }
}
