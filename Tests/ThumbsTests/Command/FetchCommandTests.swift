import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: files, report, cache", .timeLimit(.minutes(20))) struct FetchCommandTests {
  enum Manifest: String, CaseIterable, Sendable {
    case xml = "apps.plist"
    case binary = "binary.plist"
    case json = "apps.json"
    case text = "apps.txt"

    func bytes(_ rows: [(name: String, url: String)]) throws -> Data {
      let dictionaries = rows.map { ["name": $0.name, "icon": $0.url] }
      return switch self {
      case .xml: try PropertyListSerialization.data(fromPropertyList: dictionaries, format: .xml, options: 0)
      case .binary: try PropertyListSerialization.data(fromPropertyList: dictionaries, format: .binary, options: 0)
      case .json: try JSONSerialization.data(withJSONObject: dictionaries)
      case .text: Data(rows.map { $0.url + "\n" }.joined().utf8)
      }
    }
  }

  @Test(arguments: Manifest.allCases)
  func `Every manifest format produces the thumbnails, the report, and a summary on standard error`(
    manifest: Manifest
  ) async throws {
    let fixture = try CommandFixture { request in
      request.target == "/photo.jpg"
        ? .http(200, [:], SampleImage.jpeg(width: 320, height: 240))
        : .http(200, [:], SampleImage.png(width: 300, height: 400))
    }
    let rows = [("Photo", fixture.server.url("/photo.jpg")), ("Icon", fixture.server.url("/icon.png"))]
    try manifest.bytes(rows).write(to: URL(fileURLWithPath: fixture.directory.path(manifest.rawValue)))

    let result = try await fixture.fetch(manifest.rawValue, "--size", "64")

    #expect(result.ending == .exit(0))
    #expect(result.output.isEmpty)
    #expect(result.errors.hasPrefix("2 items: 2 ok, 0 failed in "))
    #expect(try fixture.outputs() == ["icon.png", "photo.jpg"])
    #expect(ImageFile(try fixture.output("photo.jpg")) == ImageFile(format: "jpeg", width: 64, height: 48))
    #expect(ImageFile(try fixture.output("icon.png")) == ImageFile(format: "png", width: 48, height: 64))

    let report = try fixture.report()
    #expect(report.map(\.index) == [0, 1])
    #expect(report.map(\.status) == ["ok", "ok"])
    #expect(report.map(\.paths) == [["photo.jpg"], ["icon.png"]])
    #expect(report.map(\.lengths) == [[try fixture.output("photo.jpg").count], [try fixture.output("icon.png").count]])
  }

  #if WebP
    @Test(arguments: ["webp", "smallest"])
    func `WebP output has its own extension, and comes from the cache in the next run`(format: String) async throws {
      let fixture = try CommandFixture { _ in .http(200, [:], SampleImage.jpeg(width: 320, height: 240)) }
      try Manifest.xml.bytes([("Photo", fixture.server.url("/photo.jpg"))])
        .write(to: URL(fileURLWithPath: fixture.directory.path("list.plist")))

      #expect(try await fixture.fetch("list.plist", "--size", "64", "--format", format).ending == .exit(0))
      let first = try fixture.output("photo.webp")
      try FileManager.default.removeItem(atPath: fixture.directory.path("out/photo.webp"))
      #expect(try await fixture.fetch("list.plist", "--size", "64", "--format", format, "--offline").ending == .exit(0))

      #expect(try fixture.output("photo.webp") == first)
      #expect(ImageFile(first) == ImageFile(format: "webp", width: 64, height: 48))
      #expect(try fixture.report().map(\.paths) == [["photo.webp"]])
    }

    @Test func `Animations keep moving with an option, which has separate entries in the cache`() async throws {
      let frames = (0..<3).map { SampleAnimation.Frame(width: 20, height: 10, [$0]) }
      let fixture = try CommandFixture { _ in .http(200, [:], SampleAnimation.gif(width: 20, height: 10, frames)) }
      let url = fixture.server.url("/a.gif")

      #expect(try await fixture.fetch(url, "-s", "10").ending == .exit(0))
      #expect(try await fixture.fetch(url, "-s", "10", "--animate").ending == .exit(0))
      let moving = try fixture.output("a.webp")
      try FileManager.default.removeItem(atPath: fixture.directory.path("out/a.webp"))
      #expect(try await fixture.fetch(url, "-s", "10", "--animate", "--offline").ending == .exit(0))

      #expect(ImageFile(try fixture.output("a.png")) == ImageFile(format: "png", width: 10, height: 5))
      #expect(moving.split(separator: Array("ANMF".utf8)).count == 4)
      #expect(try fixture.output("a.webp") == moving)
    }

    @Test func `Animations in a format that has none are a usage error`() async throws {
      let fixture = try CommandFixture()
      let result = try await fixture.fetch(fixture.server.url("/a.gif"), "--animate", "--format", "jpeg")

      #expect(result.ending == .exit(64) && result.errors.contains("Animated thumbnails are WebP or GIF files"))
    }
  #endif

  @Test func `Animations become GIF files if that is the format, and images with one frame as well`() async throws {
    let frames = (0..<3).map { SampleAnimation.Frame(width: 20, height: 10, [$0]) }
    let fixture = try CommandFixture { request in
      .http(200, [:], SampleAnimation.gif(width: 20, height: 10, request.target == "/a.gif" ? frames : [frames[0]]))
    }
    let urls = ["/a.gif", "/b.gif"].map { fixture.server.url($0) }

    let arguments = urls + ["-s", "10", "--animate", "--format", "gif", "-o", "out", "--report", "report.jsonl"]
    #expect(try await fixture.start(arguments).result().ending == .exit(0))
    let (moving, still) = (try fixture.output("a.gif"), try fixture.output("b.gif"))
    try FileManager.default.removeItem(atPath: fixture.directory.path("out/a.gif"))
    #expect(try await fixture.start(arguments + ["--offline"]).result().ending == .exit(0))

    // A graphic control extension before each frame.
    let control: [UInt8] = [0x21, 0xF9, 4]
    #expect(ImageFile(moving) == ImageFile(format: "gif", width: 10, height: 5))
    #expect(moving.split(separator: control).count == 4 && moving.split(separator: Array("NETSCAPE".utf8)).count == 2)
    #expect(ImageFile(still) == ImageFile(format: "gif", width: 10, height: 5))
    #expect(still.split(separator: control).count == 1)
    #expect(try fixture.output("a.gif") == moving)
  }

  @Test func `A GIF thumbnail that is too long fails, because it has no quality`() async throws {
    let fixture = try CommandFixture()
    let arguments = [fixture.server.url("/a.png"), "--format", "gif", "--max-output-bytes", "30B", "-o", "out"]
    let result = try await fixture.start(arguments + ["--no-cache"]).result()

    #expect(result.ending == .exit(1))
    #expect(result.errors.contains("output_too_large") && result.errors.contains("GIF has no quality"))
  }

  @Test func `Without a subcommand and a manifest, apps.plist in the working directory is fetched`() async throws {
    let fixture = try CommandFixture()
    try Manifest.xml.bytes([("Icon", fixture.server.url("/a.png"))])
      .write(to: URL(fileURLWithPath: fixture.directory.path("apps.plist")))

    let result = try await fixture.run("--concurrency", "3", "--cache-dir", fixture.cache)

    #expect(result.ending == .exit(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("thumbs")) == ["a.png"])
  }

  @Test func `A thousand rows with ten URLs make ten requests`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<1000).map { "/\($0 % 10).png" })

    #expect(try await fixture.fetch(list).ending == .exit(0))
    #expect(fixture.requestCounts == Dictionary(uniqueKeysWithValues: (0..<10).map { ("/\($0).png", 1) }))

    let report = try fixture.report()
    #expect(report.map(\.index) == Array(0..<1000))
    #expect(report.allSatisfy { $0.status == "ok" && $0.paths == ["\($0.index % 10).png"] })
  }

  @Test func `Several sizes of one URL make one request and a file each`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    #expect(try await fixture.fetch(list, "--size", "16", "--size", "8@2x", "--size", "20x10").ending == .exit(0))
    #expect(fixture.server.requests.count == 1)

    let names = ["a-16x16.png", "a-20x10.png", "a-8x8@2x.png"]
    #expect(try fixture.outputs() == names)
    #expect(try names.map { ImageFile(try fixture.output($0))?.width } == [16, 13, 16])
  }

  @Test func `A second run with fresh entries sends no request and leaves the files untouched`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])

    #expect(try await fixture.fetch(list).ending == .exit(0))

    let files = try ["a.png", "b.png"].map { try FileIdentity(of: fixture.directory.path("out/\($0)")) }
    #expect(try await fixture.fetch(list).ending == .exit(0))
    #expect(fixture.server.requests.count == 2)
    #expect(try fixture.report().map(\.origin) == ["disk", "disk"])
    #expect(try ["a.png", "b.png"].map { try FileIdentity(of: fixture.directory.path("out/\($0)")) } == files)
  }

  @Test func `A second run with stale entries revalidates them without downloading a body`() async throws {
    let fixture = try CommandFixture { request in
      let fields = ["ETag": "\"1\"", "Cache-Control": "max-age=0"]
      return request.fields["if-none-match"] == "\"1\"" ? .http(304, fields) : .icon(fields: fields)
    }
    let list = try fixture.list(["/a.png"])

    #expect(try await fixture.fetch(list).ending == .exit(0))

    let result = try await fixture.fetch(list)
    #expect(result.ending == .exit(0))
    #expect(result.errors.contains("; 0 B downloaded\n"))
    #expect(fixture.server.requests.map { $0.fields["if-none-match"] } == [nil, "\"1\""])
    #expect(try fixture.report().map(\.origin) == ["revalidated"])
  }
}

/// The attributes of a file that change when it is rewritten.
private struct FileIdentity: Hashable {
  struct Missing: Error {}

  let inode: UInt
  let seconds, nanoseconds: Int

  init(of path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Missing() }
    inode = UInt(status.st_ino)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
