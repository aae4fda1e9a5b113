import Foundation
import Glibc
import TestSupport
import Testing

@testable import thumbs

@Suite struct LeftoverTests {
  /// The number of no process: far above the most that Linux gives (`PID_MAX_LIMIT`, 2^22).
  private static let dead = pid_t.max

  @Test func `what a killed run left is removed; everything else stays`() throws {
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

  @Test func `a file that a process out of sight holds stays`() throws {
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
