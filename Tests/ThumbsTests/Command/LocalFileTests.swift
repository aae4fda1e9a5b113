import Foundation
import Glibc
import TestSupport
import Testing

@testable import thumbs

/// Local images and directories as arguments.
@Suite("thumbs fetch: local files", .timeLimit(.minutes(20))) struct LocalFileTests {
  /// Writes an image, or other bytes, which were last changed an hour ago.
  private func write(_ bytes: [UInt8], as name: String, in fixture: CommandFixture) throws {
    let path = fixture.directory.path(name)
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    _ = try fixture.directory.write(bytes, as: name)
    try age(name, by: 3600, in: fixture)
  }

  private func age(_ name: String, by seconds: Double, in fixture: CommandFixture) throws {
    let date = Date.now.addingTimeInterval(-seconds)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: fixture.directory.path(name))
  }

  private func outputs(_ fixture: CommandFixture, in directory: String = "out") throws -> [String] {
    let all = FileManager.default.enumerator(atPath: fixture.directory.path(directory))?.compactMap { $0 as? String }
    return (all ?? []).filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }.sorted()
  }

  private func origins(_ fixture: CommandFixture) throws -> [String: String] {
    let rows = try fixture.report().map { (String($0.url?.split(separator: "/").last ?? ""), $0.origin ?? "") }
    return Dictionary(rows) { $1 }
  }

  @Test func `A directory gives the images in it, in its folders, and nothing else`() async throws {
    let fixture = try CommandFixture()
    let png = SampleImage.png(width: 40, height: 30)
    for name in ["b.png", "a/2.png", "a/1/x y#?%41.png", "a/noextension", ".hidden.png", ".trash/x.png", "é/c.png"] {
      try write(png, as: "tree/\(name)", in: fixture)
    }
    try write(SampleImage.jpeg(width: 40, height: 30), as: "tree/photo.txt", in: fixture)
    try write(Array("https://a.example/x.png\n".utf8), as: "tree/list.txt", in: fixture)
    try write(Array("text".utf8), as: "tree/text.jpg", in: fixture)
    try write([], as: "tree/empty.jpg", in: fixture)
    try write(png, as: "elsewhere/secret.png", in: fixture)
    for (link, target) in [("tree/link.png", "elsewhere/secret.png"), ("tree/link", "elsewhere")] {
      symlink(fixture.directory.path(target), fixture.directory.path(link))
    }
    mkfifo(fixture.directory.path("tree/pipe.png"), 0o600)

    let result = try await fixture.fetch("tree", "-s8")

    #expect(result.ending == .exit(0), "\(result.errors)")
    let expected = ["a/1/x y#_%41.png", "a/2.png", "a/noextension.png", "b.png", "photo.jpg", "é/c.png"]
    #expect(try outputs(fixture) == expected)
    #expect(try fixture.report().map(\.status) == Array(repeating: "ok", count: 6))
    #expect(result.errors.contains("In tree, empty.jpg, text.jpg are not images and were left out."))
  }

  @Test func `The second run reads only the files that have changed`() async throws {
    let fixture = try CommandFixture()
    for name in ["same.png", "new.png", "bigger.png", "older.png", "recent.png"] {
      try write(SampleImage.png(width: 40, height: 30), as: "tree/\(name)", in: fixture)
    }
    try age("tree/recent.png", by: -3600, in: fixture)
    #expect(try await fixture.fetch("tree", "-s8").ending == .exit(0))
    #expect(try Set(origins(fixture).values) == ["file"])

    // Another file of the same name, another size, and another time.
    try FileManager.default.removeItem(atPath: fixture.directory.path("tree/new.png"))
    try write(SampleImage.png(width: 20, height: 30), as: "tree/other.png", in: fixture)
    rename(fixture.directory.path("tree/other.png"), fixture.directory.path("tree/new.png"))
    try write(SampleImage.png(width: 60, height: 60), as: "tree/bigger.png", in: fixture)
    try age("tree/older.png", by: 7200, in: fixture)
    #expect(try await fixture.fetch("tree", "-s8").ending == .exit(0))

    let changed = ["new.png": "file", "bigger.png": "file", "older.png": "file", "recent.png": "file"]
    #expect(try origins(fixture) == changed.merging(["same.png": "revalidated"]) { $1 })
    let size = try fixture.report().first { $0.url?.hasSuffix("new.png") == true }?.paths
    #expect(size == ["new.png"])

    try FileManager.default.removeItem(atPath: fixture.directory.path("tree/same.png"))
    _ = try await fixture.fetch("file://" + fixture.directory.path("tree/same.png"), "-s8")
    #expect(try fixture.report().map(\.code) == ["file_unreadable"])
  }

  @Test func `Files that are arguments need no permission, but those in a list do`() async throws {
    let fixture = try CommandFixture()
    try write(SampleImage.png(width: 40, height: 30), as: "a/x.png", in: fixture)
    try write(SampleImage.png(width: 40, height: 30), as: "y.png", in: fixture)
    let urls = ["a/x.png", "y.png"].map { "file://" + fixture.directory.path($0) }
    let list = try fixture.list(urls: urls)

    let result = try await fixture.fetch("a/x.png", list, urls[1], "a", "-s8")

    #expect(result.ending == .exit(1))
    let codes = try fixture.report().sorted { $0.index < $1.index }.map { $0.code ?? $0.status }
    #expect(codes == ["ok", "blocked_scheme", "blocked_scheme", "ok", "ok"])
  }

  @Test func `One local image goes to the file that -o names`() async throws {
    let fixture = try CommandFixture()
    try write(SampleImage.png(width: 40, height: 30), as: "x.dat", in: fixture)

    let result = try await fixture.run("x.dat", "-o", "cover.jpg", "--no-cache")

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try Array(fixture.data("cover.jpg")).starts(with: [0xFF, 0xD8]))
  }

  @Test(arguments: [[], ["--overwrite"]])
  func `Thumbnails never get among the images of a directory`(options: [String]) async throws {
    let fixture = try CommandFixture()
    let png = SampleImage.png(width: 40, height: 30)
    try write(png, as: "tree/tree/x.png", in: fixture)

    let same = try await fixture.start(["tree", "-o", "tree/"] + options).result()
    #expect(same.ending == .exit(64) && same.errors.contains("name another directory with -o"))

    // The thumbnail of tree/tree/x.png would be tree/x.png.
    let above = try await fixture.start(["tree", "-s8", "-o", ".", "--no-cache"] + options).result()
    #expect(above.ending == .exit(1) && above.errors.contains("output_conflict"), "\(above.errors)")
    #expect(try outputs(fixture, in: "tree") == ["tree/x.png"])
    #expect(try Array(fixture.data("tree/tree/x.png")) == png)

    // An output directory inside is not read by the next run.
    for _ in 1...2 {
      let inside = try await fixture.start(["tree", "-s8", "-o", "tree/small", "--no-cache"] + options).result()
      #expect(inside.ending == .exit(0), "\(inside.errors)")
    }
    #expect(try outputs(fixture, in: "tree") == ["small/tree/x.png", "tree/x.png"])
  }

  @Test func `A directory that cannot be read is a bad row, and an empty one an error`() async throws {
    let fixture = try CommandFixture()
    try write(SampleImage.png(width: 40, height: 30), as: "tree/x.png", in: fixture)
    let deep = (0..<120).map { _ in "d" }.joined(separator: "/")
    try write(SampleImage.png(width: 40, height: 30), as: "tree/\(deep)/x.png", in: fixture)
    try FileManager.default.createDirectory(
      atPath: fixture.directory.path("empty/sub"), withIntermediateDirectories: true)

    let result = try await fixture.fetch("tree", "-s8")
    #expect(result.ending == .exit(1) && result.errors.contains("is more than 100 directories deep"))
    #expect(try outputs(fixture) == ["x.png"])

    let empty = try await fixture.fetch("empty")
    #expect(empty.ending == .exit(65) && empty.errors.contains("no rows: there are no images in this directory"))
  }

  @Test func `Without recursion, only the images in the directory itself are read`() async throws {
    let fixture = try CommandFixture()
    for name in ["a.png", "b/c.png"] { try write(SampleImage.png(width: 40, height: 30), as: name, in: fixture) }

    #expect(try await fixture.fetch(".", "--no-recurse", "-s8").ending == .exit(0))
    #expect(try outputs(fixture) == ["a.png"])
  }

  @Test(arguments: [1, 2, 7, 100]) func `The order is that of the names, however many are kept`(count: Int) throws {
    let fixture = try CommandFixture()
    let names = ["a.png", "a/1.png", "a/z.png", "a0.png", "b/c/d.png", "z.png", "Z.png", "é.png", "10.png", "9.png"]
    for name in names { try write(SampleImage.png(width: 4, height: 3), as: "tree/\(name)", in: fixture) }
    let root = try #require(LocalArgument(fixture.directory.path("tree")))

    var rows = try DirectoryRows(root, LocalScope(namesAtOnce: count))
    var found: [String] = []
    while let item = try rows.next() { found.append(item.url?.split(separator: "/tree/").last.map(String.init) ?? "") }

    #expect(
      found == [
        "10.png", "9.png", "Z.png", "a/1.png", "a/z.png", "a.png", "a0.png", "b/c/d.png", "z.png",
        "%C3%A9.png",
      ])
  }

  @Test(arguments: [("urls.gz", false), ("drawing.svgz", true), ("DRAWING.SVG.GZ", true), ("a", false)])
  func `Compressed data is a list, unless its name is that of a drawing`(name: String, isImage: Bool) throws {
    let fixture = try CommandFixture()
    try write([0x1F, 0x8B, 8, 0] + Array(repeating: 0, count: 100), as: name, in: fixture)

    #expect((LocalArgument(fixture.directory.path(name)) != nil) == isImage)
    let root = try #require(LocalArgument(fixture.directory.path))
    var rows = try DirectoryRows(root, LocalScope())
    #expect((try rows.next() != nil) == isImage)
  }

  @Test(arguments: [
    ("list.txt", "https://a.example/x.png\n", false),
    ("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", true),
    ("apps.plist", "<?xml version='1.0'?><plist><array/></plist>", false), ("page", "<svg/>", true),
  ])
  func `The content of an argument decides whether it is an image or a list`(
    name: String, text: String, isImage: Bool
  ) throws {
    let fixture = try CommandFixture()
    try write(Array(text.utf8), as: name, in: fixture)

    #expect((LocalArgument(fixture.directory.path(name)) != nil) == isImage)
  }
}
