import BatchFetch
import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import thumbs

/// The real command and buckets on a server that recomputes signatures.
@Suite("thumbs fetch: buckets", .timeLimit(.minutes(20)), .needs(.s3)) struct BucketCommandTests {
  private let bucket: TestBucket
  private let fixture: CommandFixture

  init() throws {
    bucket = try TestBucket()
    fixture = try CommandFixture()
  }

  /// Runs `fetch` with the access to the bucket and without an output directory.
  private func fetch(
    _ arguments: [String], environment: [String: String] = [:], cache: String = "cache"
  ) async throws -> CommandResult {
    let usual = ["fetch", "--cache-dir", cache, "--progress", "none", "--retries", "1"]
    return try await fixture.start(usual + arguments, environment: bucket.environment.merging(environment) { $1 })
      .result()
  }

  private func fill(_ keys: [String]) async throws {
    for (seed, key) in keys.enumerated() {
      try await bucket.put(key, SampleImage.png(width: 40, height: 30, seed: seed))
    }
  }

  /// The keys that were requested with `method`, sorted; those of lists are left out.
  private func keys(_ method: String, since count: Int = 0) throws -> [String] {
    try bucket.log.dropFirst(count).filter { $0.hasPrefix(method) && !$0.contains("list-type") }
      .map { String($0.split(separator: " ")[1]) }.sorted()
  }

  // MARK: In

  @Test func `An object is fetched by its URL, and so is one that a list names`() async throws {
    try await fill(["a b.png", "c.png"])
    let list = try fixture.list(urls: [bucket.url("c.png"), bucket.url("missing.png")])
    let result = try await fetch([bucket.url("a b.png"), list, "-o", "out", "--report", "report.jsonl"])
    #expect(result.ending == .exit(1))
    let rows = try fixture.report()
    #expect(rows.map(\.url) == ["a b.png", "c.png", "missing.png"].map { bucket.url($0) })
    #expect(rows.map(\.code) == [nil, nil, "http_404"] && rows[0].origin == "network")
    #expect(try fixture.outputs() == ["a b.png", "c.png"])
  }

  @Test func `A folder gives the images below it, in the order of their keys, and keeps its folders`() async throws {
    let keys = ["p/2.png", "p/a/1.png", "p/b/c/x?y#z%41.png", "p/noextension"]
    try await fill(keys + ["q/other.png"])
    for key in ["p/text.txt", "p/.git.json"] { try await bucket.put(key, Array("text".utf8)) }
    try await bucket.put("p/_SUCCESS", [])
    let result = try await fetch([bucket.url("p/"), "-o", "out", "-s8", "--report", "report.jsonl"])
    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.report().map(\.url) == keys.map { bucket.url($0) })
    #expect(try fixture.report().flatMap(\.paths) == ["2.png", "a/1.png", "b/c/x_y#z%41.png", "noextension.png"])
    #expect(
      result.errors.contains("In s3://\(bucket.name)/p/, 2 objects whose extensions are not that of an image were"))
  }

  @Test func `Without subfolders, only the objects of the folder itself are read`() async throws {
    try await fill(["p/2.png", "p/a/1.png"])
    let result = try await fetch([bucket.url("p/"), "--no-recurse", "-n"])
    #expect(result.output == "./thumbs/2.{ext}\t\(bucket.url("p/2.png"))\n" && result.ending == .exit(0))
  }

  @Test func `An unchanged object is confirmed, not sent again`() async throws {
    try await fill(["a.png"])
    for _ in 0..<2 {
      let result = try await fetch([bucket.url("a.png"), "-o", "out", "--refresh"])
      #expect(result.ending == .exit(0))
    }
    #expect(try bucket.log.map { $0.suffix(3) }.suffix(2) == ["200", "304"].map { $0[...] })
  }

  @Test func `A list that cannot be read ends the run with its reason`() async throws {
    let wrong = try await fetch([bucket.url("")], environment: ["AWS_SECRET_ACCESS_KEY": "wrong"])
    #expect(wrong.ending == .exit(65))
    #expect(wrong.errors.contains("s3://\(bucket.name)/: cannot be listed: The server responded with status 403 (Sig"))
    let empty = try await fetch([bucket.url("none/")])
    #expect(empty.ending == .exit(65) && empty.errors.contains("no rows: there are no images in this folder"))
  }

  @Test func `Google Cloud Storage takes an HMAC key`() async throws {
    try await fill(["a.png"])
    let environment = [
      "GS_ACCESS_KEY_ID": "GOOG1PERMANENT", "GS_SECRET_ACCESS_KEY": "hmac/secret+key", "AWS_ENDPOINT_URL": "",
      "STORAGE_EMULATOR_HOST": try RealServers.url(.s3),
    ]
    let result = try await fetch(["gs://\(bucket.name)/", "-o", "gs://\(bucket.name)/t"], environment: environment)
    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try keys("PUT").contains("t/a.png"))
  }

  @Test func `The profile of the shared files has the key, and an option the server`() async throws {
    try await fill(["a.png"])
    let profile = "[x]\naws_access_key_id = AKIDPERMANENT\naws_secret_access_key = permanent/secret+key\n"
    let environment = [
      "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
      "AWS_PROFILE": "x", "AWS_SHARED_CREDENTIALS_FILE": try fixture.directory.write(profile, as: "keys"),
    ]
    let endpoint = try RealServers.url(.s3)
    let result = try await fetch([bucket.url(""), "-o", "out", "--s3-endpoint", endpoint], environment: environment)
    #expect(result.ending == .exit(0), "\(result.errors)")
    let none = try await fetch(
      [bucket.url("a.png"), "-o", "out", "--s3-endpoint", endpoint, "--refresh"],
      environment: environment.merging(["AWS_PROFILE": "nobody"]) { $1 })
    #expect(none.ending == .exit(1) && none.errors.contains("There is no profile 'nobody'"))
  }

  @Test(arguments: ["ftp://a.example", "http://a.example/path", "a.example"])
  func `An endpoint that is no URL of a server is refused`(endpoint: String) async throws {
    let result = try await fetch(["x.txt", "--s3-endpoint", endpoint])
    #expect(result.ending == .exit(64) && result.errors.contains("without a path"))
  }

  @Test func `Neither a page nor a redirect leads into a bucket`() async throws {
    try await fill(["a.png"])
    let url = bucket.url("a.png")
    let web = try CommandFixture { request in
      request.target == "/page"
        ? .http(200, ["Content-Type": "text/html"], Array("<meta property=og:image content='\(url)'>".utf8))
        : .http(302, ["Location": url])
    }
    let arguments = web.fetchArguments([web.server.url("/page"), web.server.url("/r.png"), "--find", "preview"])
    let result = try await web.start(arguments, environment: bucket.environment).result()
    #expect(result.ending == .exit(1))
    #expect(try web.report().allSatisfy { $0.status == "failed" } && keys("GET").isEmpty)
  }

  // MARK: Out

  @Test func `From a bucket to a bucket, with report, summary and gallery, and nothing is sent twice`() async throws {
    try await fill(["in/a.png", "in/f/b.png", "in/c.png"])
    let meta = ["report.jsonl", "sum.json", "out/index.html"]
    let arguments = [
      bucket.url("in/"), "-o", bucket.url("out/t/"), "-s8,16", "--report", bucket.url(meta[0]), "--summary",
      bucket.url(meta[1]), "--gallery", bucket.url(meta[2]),
    ]
    let first = try await fetch(arguments)
    #expect(first.ending == .exit(0), "\(first.errors)")
    let names = ["a-16x16.png", "a-8x8.png", "c-16x16.png", "c-8x8.png", "f/b-16x16.png", "f/b-8x8.png"]
    #expect(try keys("PUT").filter { $0.hasPrefix("out/t/") } == names.map { "out/t/\($0)" })

    let object = try await bucket.get("out/t/f/b-8x8.png")
    #expect(object.response.headerFields[.contentType] == "image/png")
    #expect(ThumbnailMark.isPresent(in: object.body))
    let rows = try ReportedRow.all(in: String(decoding: await bucket.get(meta[0]).body, as: UTF8.self))
    #expect(rows.flatMap(\.paths).sorted() == names)
    #expect(try await String(decoding: bucket.get(meta[1]).body, as: UTF8.self).contains("\"items\":3"))
    let page = try await bucket.get(meta[2])
    #expect(page.response.headerFields[.contentType] == "text/html; charset=utf-8")
    #expect(String(decoding: page.body, as: UTF8.self).contains("\"t/f/b-16x16.png\""))

    let count = try bucket.log.count
    #expect(try await fetch(arguments).ending == .exit(0))
    #expect(try keys("PUT", since: count) == meta.sorted())
    #expect(try bucket.log.dropFirst(count).allSatisfy { !$0.hasPrefix("GET in/") || $0.hasSuffix(" 304") })
  }

  @Test func `An object that was not made by thumbs stays, unless it may be overwritten`() async throws {
    try await bucket.put("t/a.png", Array("somebody's".utf8))
    let url = fixture.server.url("/a.png")
    let arguments = [url, "-o", bucket.url("t"), "--report", "report.jsonl"]
    #expect(try await fetch(arguments).ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["output_exists"])
    #expect(try await bucket.get("t/a.png").body == Array("somebody's".utf8))
    #expect(try await fetch(arguments + ["--overwrite"]).ending == .exit(0))
    #expect(try await ThumbnailMark.isPresent(in: bucket.get("t/a.png").body))

    try await bucket.put("report.jsonl", Array("somebody's".utf8))
    let report = try await fetch([url, "-o", "out", "--report", bucket.url("report.jsonl")])
    #expect(report.ending == .exit(73) && report.errors.contains("was not made by thumbs"))
  }

  @Test func `A changed image replaces its thumbnail`() async throws {
    try await fill(["in/a.png"])
    let arguments = [bucket.url("in/"), "-o", bucket.url("t"), "--refresh"]
    #expect(try await fetch(arguments).ending == .exit(0))
    let old = try await bucket.get("t/a.png").body
    try await bucket.put("in/a.png", SampleImage.png(width: 40, height: 30, seed: 99))
    #expect(try await fetch(arguments).ending == .exit(0))
    #expect(try await bucket.get("t/a.png").body != old)
  }

  @Test func `On another machine, --skip-existing requests only what is missing`() async throws {
    let server = try CommandFixture { _ in .icon(fields: ["Cache-Control": "no-store"]) }
    let paths = (0..<20).map { "/\($0).png" }
    let list = try fixture.list(urls: paths.map(server.server.url))
    #expect(try await fetch([list, "-o", bucket.url("t"), "-s8"]).ending == .exit(0))
    let count = server.server.requests.count

    let more = try fixture.list(urls: (paths + ["/new.png"]).map(server.server.url))
    let arguments = [more, "-o", bucket.url("t"), "-s8", "--skip-existing", "--report", "report.jsonl"]
    let again = try await fetch(arguments, cache: "other")
    #expect(again.ending == .exit(0) && server.server.requests.dropFirst(count).map(\.target) == ["/new.png"])
    #expect(try fixture.report().map(\.origin) == paths.map { _ in "existing" } + ["network"])
    // Another size is another thumbnail.
    let other = try await fetch([list, "-o", bucket.url("t"), "-s16", "--skip-existing"], cache: "other")
    #expect(other.ending == .exit(0) && server.server.requests.count == count + 1 + 21)
  }

  @Test func `A run that was killed goes on`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      if request.target == "/9.png" { gate.wait() }
      return .icon(fields: ["Cache-Control": "no-store"])
    }
    let list = try fixture.list(urls: (0..<10).map { server.url("/\($0).png") })
    let arguments = ["fetch", list, "-o", bucket.url("t"), "--skip-existing", "--cache-dir", "cache"]
    let running = try fixture.start(arguments, environment: bucket.environment)
    await eventually { (try? keys("PUT").count) == 9 }
    running.send(SIGKILL)
    _ = await running.result()
    gate.open()
    let count = server.requests.count
    let result = try await fetch([list, "-o", bucket.url("t"), "--skip-existing"])
    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(server.requests.dropFirst(count).map(\.target) == ["/9.png"])
    #expect(try Set(keys("PUT")) == Set((0..<10).map { "t/\($0).png" }))
  }

  @Test func `A bucket that cannot be used is known before anything is downloaded`() async throws {
    let url = fixture.server.url("/a.png")
    let wrong = try await fetch([url, "-o", bucket.url("t")], environment: ["AWS_SECRET_ACCESS_KEY": "wrong"])
    #expect(wrong.ending == .exit(73) && fixture.server.requests.isEmpty)
    #expect(wrong.errors.contains("Cannot create s3://\(bucket.name)/t/: The server responded with status 403 (Sig"))
    let nowhere = try await fetch(
      [url, "-o", bucket.url("t"), "--retries", "0"], environment: ["AWS_ENDPOINT_URL": "http://127.0.0.1:1"])
    #expect(nowhere.ending == .exit(73) && fixture.server.requests.isEmpty)
  }

  @Test func `One image goes to an object of a given name`() async throws {
    #expect(try await fetch([fixture.server.url("/a.png"), "-o", bucket.url("x/cover.jpg")]).ending == .exit(0))
    #expect(try await bucket.get("x/cover.jpg").response.headerFields[.contentType] == "image/jpeg")
  }

  @Test func `A retry updates a report that is an object, and the files go to its bucket`() async throws {
    let isBroken = Gate()
    let server = try LoopbackServer { request in
      request.target == "/b.png" && !isBroken.isOpen ? .http(503) : .icon()
    }
    let list = try fixture.list(urls: ["/a.png", "/b.png"].map(server.url))
    let report = bucket.url("report.jsonl")
    let first = try await fetch([list, "-o", bucket.url("t"), "--report", report, "--retries", "0"])
    #expect(first.ending == .exit(75), "\(first.errors)")
    isBroken.open()
    let arguments = ["retry", report, "--cache-dir", "cache", "--progress", "none"]
    let retry = try await fixture.start(arguments, environment: bucket.environment).result()
    #expect(retry.ending == .exit(0), "\(retry.errors)")
    let rows = try ReportedRow.all(in: String(decoding: await bucket.get("report.jsonl").body, as: UTF8.self))
    #expect(rows.map(\.status) == ["ok", "ok"])
    #expect(try await ThumbnailMark.isPresent(in: bucket.get("t/b.png").body))
  }

  @Test func `A source is never replaced by a thumbnail, and the folder that is read is no output`() async throws {
    try await fill(["t/a.png"])
    let arguments = [bucket.url("t/a.png"), "-o", bucket.url("t"), "--overwrite", "--report", "report.jsonl"]
    #expect(try await fetch(arguments).ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["output_conflict"])
    let same = try await fetch([bucket.url("t/"), "-o", bucket.url("t"), "--overwrite"])
    #expect(same.ending == .exit(65) && same.errors.contains("is the output folder, too"))
    #expect(try keys("PUT") == ["t/a.png"])
  }

  @Test func `The limits for images do not concern lists`() async throws {
    try await fill(["a.png"])
    let result = try await fetch([bucket.url(""), "-o", bucket.url("t"), "--max-bytes", "10B"])
    #expect(result.ending == .exit(1) && result.errors.contains("too_large_bytes"))
  }

  @Test func `Thumbnails below the folder that is read are not read`() async throws {
    try await fill(["a.png", "b.png"])
    for _ in 0..<2 { #expect(try await fetch([bucket.url(""), "-o", bucket.url("t")]).ending == .exit(0)) }
    #expect(try Set(keys("PUT")) == ["a.png", "b.png", "t/a.png", "t/b.png"])
  }

  @Test func `Metrics cannot be an object`() async throws {
    let result = try await fetch([fixture.server.url("/a.png"), "--metrics", bucket.url("m.prom")])
    #expect(result.ending == .exit(64))
  }
}
