import Foundation
import TestSupport
import Testing

@testable import thumbs

@Suite struct ManifestListTests {
  @Test func `Several manifests form one list with consecutive indexes`() throws {
    let directory = try TemporaryDirectory()
    let paths = [
      try directory.write("http://a/1\nhttp://a/2\n", as: "one.txt"),
      try directory.write("# none\n", as: "none.txt"),
      try directory.write("[\"http://a/3\", 4]", as: "three.json"),
    ]
    let list = try ManifestList(paths: paths)
    let entries = Array(list)

    #expect(entries.map(\.url) == ["http://a/1", "http://a/2", "http://a/3", nil])
    #expect(entries.map(\.index) == [0, 1, 2, 3])
    #expect(entries[3].reason == "\(paths[2]), item 2: a number instead of a dictionary.")
    #expect(list.next() == nil)
    #expect(list.failure == nil)
  }

  @Test func `A missing file, a directory and a second standard input are errors before the first item`() throws {
    let directory = try TemporaryDirectory()
    let good = try directory.write("http://a/1\n", as: "good.txt")
    let missing = directory.path("missing.plist")

    #expect(message { _ = try ManifestList(paths: [good, missing]) } == "\(missing): there is no such file.")
    #expect(
      message { _ = try ManifestList(paths: [directory.path]) }
        == "\(directory.path): is a directory, not a manifest.")
    #expect(
      message { _ = try ManifestList(paths: ["-", "-"]) } == "standard input: can be read only once; give - only once.")
  }

  @Test func `A read error in the middle of a file ends the list and stays available`() throws {
    let broken = InputError("tape", "cannot be read: Input/output error")
    let text = ByteSource.bytes(Array("http://a/1\nhttp://a/2\nhttp:".utf8))
    let source = ByteSource(name: "tape") { buffer throws(InputError) in
      let count = try text.read(buffer)
      if count == 0 { throw broken }
      return count
    }
    let list = ManifestList([try Manifest(LineReader(source))])

    #expect(list.next()?.url == "http://a/1")
    #expect(list.next()?.url == "http://a/2")
    #expect(list.failure == nil)
    #expect(list.next() == nil)
    #expect(list.failure == broken)
    #expect(list.next() == nil)
  }

  @Test(
    arguments: [
      ("a/apps.plist", .plist), ("A.JSON", .json), ("a.jsonl", .jsonLines), ("a.ndjson", .jsonLines), ("a.csv", .csv),
      ("a.tsv", .tsv), ("a.txt", .text), ("a.png", nil), ("plist", nil), ("dir.plist/apps", nil), ("-", nil),
    ] as [(String, ManifestFormat?)])
  func `The extension determines the format, in upper or lower case`(path: String, expected: ManifestFormat?) {
    #expect(ManifestFormat(path: path) == expected)
  }

  @Test(
    arguments: [
      ("bplist00", .plist), ("<?xml ?>", .plist), (" \n<!DOCTYPE plist", .plist), ("  [", .json),
      ("{\"a\"", .jsonLines),
      ("http://a", .text), ("# [", .text), ("", .text),
    ] as [(String, ManifestFormat)])
  func `Without a known extension, the first bytes determine the format`(text: String, expected: ManifestFormat) {
    #expect(ManifestFormat(startingWith: Array(text.utf8)) == expected)
  }
}
