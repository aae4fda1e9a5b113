import Foundation
import TestSupport
import Testing

@testable import thumbs

/// `--find`, and documents as lists, with the real command.
@Suite("thumbs fetch: pages", .timeLimit(.minutes(20))) struct FindCommandTests {
  private static func html(_ text: String) -> ServerReply {
    .http(200, ["Content-Type": "text/html"], Array(text.utf8))
  }

  @Test func `A list of links gives the previews of its pages, named after them`() async throws {
    let referers = Recorder<String>()
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/one.html": Self.html("<title>First</title><meta property=og:image content='/img/share.png'>")
      case "/two.html": .http(302, ["Location": "/moved/two.html"])
      case "/moved/two.html": Self.html("<meta name=twitter:image content='../img/share.png'>")
      case "/empty.html": Self.html("<p>nothing")
      case "/gone.html": .http(404)
      default: Self.icon(request, referers)
      }
    }
    let list = try fixture.list(["/one.html", "/two.html", "/empty.html", "/gone.html", "/direct.png"])

    let result = try await fixture.fetch(list, "--find", "preview", "-s8", "--name", "{stem}.{ext}")

    #expect(result.ending == .exit(1), "\(result.errors)")
    let rows = try fixture.report().sorted { $0.index < $1.index }
    let server = fixture.server
    #expect(
      rows.map(\.url)
        == ["/img/share.png", "/img/share.png", "/empty.html", "/gone.html", "/direct.png"].map(server.url))
    #expect(rows.map { $0.code ?? $0.status } == ["ok", "ok", "no_image_found", "http_404", "ok"])
    #expect(try fixture.outputs() == ["direct.png", "one.png", "two.png"])
    let report = try fixture.text("report.jsonl")
    #expect(report.contains("\"page\":\"\(server.url("/one.html"))\""))
    #expect(report.contains("\"page\":\"\(server.url("/moved/two.html"))\"") && report.contains("\"name\":\"First\""))
    // Both pages show the same image, which is requested once, with the first page that wanted it.
    #expect(referers.values.filter { $0.hasPrefix("/img/share.png") }.count == 1)
    #expect(referers.values.contains { $0 == "/img/share.png \(server.url("/one.html"))" })

  }

  @Test(arguments: ["preview", "icon"]) func `A retry searches pages again that failed`(search: String) async throws {
    let isHealthy = Gate()
    let fixture = try CommandFixture { request in
      guard request.target.hasSuffix(".html") else { return .icon() }
      guard isHealthy.isOpen else { return .http(503) }
      return Self.html("<meta property=og:image content=/a.png><link rel=icon href=/a.png>")
    }
    let list = try fixture.list(["/one.html", "/two.html"])
    let options = ["--find", search, "-s8", "--name", "{stem}.{ext}"]
    let first = try await fixture.start(fixture.fetchArguments([list] + options)).result()
    #expect(first.ending == .exit(75) && first.errors.contains("2 http_503*"))
    let dryRun = try await fixture.run("retry", "report.jsonl", "-n")
    #expect(dryRun.ending == .exit(0) && dryRun.output.contains(fixture.server.url("/one.html")))

    isHealthy.open()
    let retry = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache)

    #expect(retry.ending == .exit(0), "\(retry.errors)")
    #expect(try fixture.outputs() == ["one.png", "two.png"])
    let pages = try fixture.report().map(\.url)
    #expect(pages == [fixture.server.url("/a.png"), fixture.server.url("/a.png")])
    #expect(try fixture.text("report.jsonl").contains("\"page\":\"\(fixture.server.url("/one.html"))\""))
  }

  @Test func `A retry cannot search a page for all of its images`() async throws {
    let fixture = try CommandFixture { _ in .http(503) }
    #expect(try await fixture.fetch(fixture.server.url("/page"), "--find", "images").ending == .exit(75))

    let retry = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache)

    #expect(retry.ending == .exit(75) && retry.errors.contains("run thumbs fetch --find images again"))
  }

  @Test(arguments: ["--referer", "--header"]) func `A Referer of the command line replaces that of the page`(
    option: String
  ) async throws {
    let referers = Recorder<String>()
    let fixture = try CommandFixture { request in
      request.target == "/page" ? Self.html("<meta property=og:image content=/a.png>") : Self.icon(request, referers)
    }
    let value = option == "--header" ? "Referer: http://own/" : "http://own/"

    #expect(try await fixture.fetch(fixture.server.url("/page"), "--find", "preview", option, value).ending == .exit(0))

    #expect(referers.values == ["/a.png http://own/"])
  }

  private static func icon(_ request: ServerRequest, _ referers: Recorder<String>) -> ServerReply {
    referers.record("\(request.target) \(request.fields["referer"] ?? "-")")
    return .icon()
  }

  @Test func `An icon that is too small is replaced by one of the app manifest, and a missing one by the usual one`()
    async throws
  {
    let icons =
      #"[{"src": "m.png", "sizes": "512x512", "purpose": "maskable"}, {"src": "/big.png", "sizes": "192x192"}]"#
    let manifest = "{\"icons\": \(icons)}"
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/app/": Self.html("<link rel=icon sizes=16x16 href=small.png><link rel=manifest href=app.json>")
      case "/app/app.json": .http(200, [:], Array(manifest.utf8))
      case "/plain/": Self.html("<p>no icon")
      default: .icon()
      }
    }
    let urls = ["/app/", "/plain/"].map(fixture.server.url)

    #expect(try await fixture.fetch(urls[0], urls[1], "--find", "icon", "-s", "128").ending == .exit(0))

    let rows = try fixture.report().sorted { $0.index < $1.index }
    #expect(rows.map(\.url) == ["/big.png", "/favicon.ico"].map(fixture.server.url))
    #expect(try fixture.outputs().contains("127.0.0.1.png"))
  }

  @Test func `All images of a page and of a feed are rows, and a local file is not`() async throws {
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/page": Self.html("<img src=1.png><img src='file:///etc/hostname'><img srcset='2.png 10w, 3.png 900w'>")
      case "/feed":
        .http(
          200, ["Content-Type": "application/rss+xml"],
          Array("<rss><item><enclosure type='image/png' url='4.png'/></item></rss>".utf8))
      default: .icon()
      }
    }
    let urls = ["/page", "/feed"].map(fixture.server.url)

    let result = try await fixture.fetch(urls[0], urls[1], "--find", "images", "-s", "8", "--allow-file")

    #expect(result.ending == .exit(1))
    let rows = try fixture.report().sorted { $0.index < $1.index }
    #expect(rows.map(\.index) == [0, 1, 2, 3])
    #expect(rows.map { $0.code ?? $0.status } == ["ok", "blocked_scheme", "ok", "ok"])
    #expect(try fixture.outputs() == ["1.png", "2.png", "4.png"])
  }

  @Test func `The preview of one page goes to the file that -o names, but all images do not`() async throws {
    let fixture = try CommandFixture { request in
      request.target == "/page" ? Self.html("<meta property=og:image content=/a.png><img src=b.png>") : .icon()
    }
    let url = fixture.server.url("/page")

    let preview = try await fixture.run(url, "--find", "preview", "-o", "cover.jpg", "--no-cache")
    #expect(preview.ending == .exit(0), "\(preview.errors)")
    #expect(try Array(fixture.data("cover.jpg")).starts(with: [0xFF, 0xD8]))

    let all = try await fixture.run(url, "--find", "images", "-o", "all.jpg", "--no-cache")
    #expect(all.ending == .exit(64) && all.errors.contains("--find images may find several"))
  }

  @Test func `Robots rules hold for pages`() async throws {
    let fixture = try CommandFixture { request in
      request.target == "/robots.txt"
        ? .http(200, [:], Array("User-agent: *\nDisallow: /private\n".utf8)) : Self.html("<img src=/a.png>")
    }

    _ = try await fixture.fetch(fixture.server.url("/private/page"), "--find", "images", "--robots")

    #expect(try fixture.report().map(\.code) == ["blocked_robots"])
  }

  @Test func `An interrupt ends a run that waits for a page`() async throws {
    let (isRequested, isReleased) = (Gate(), Gate())
    let fixture = try CommandFixture { _ in
      isRequested.open()
      isReleased.wait()
      return Self.html("")
    }
    defer { isReleased.open() }
    let command = try fixture.start(fixture.fetchArguments([fixture.server.url("/page"), "--find", "images"]))
    isRequested.wait()

    command.send(SIGINT)

    #expect(await command.result().ending == .exit(130))
  }

  @Test(arguments: [
    ("page.html", "<!doctype html><img src=a.png><img src=/x/b.png>"),
    ("page", "<html><img src=a.png><img src='/x/b.png'>"),
    (
      "feed.xml",
      "<rss><item><media:content medium='image' url='URL/a.png'/></item>"
        + "<item><enclosure type='image/png' url='URL/x/b.png'/></item></rss>"
    ),
    ("list.md", "# Pictures\n![one](a.png \"title\") and <img src=\"/x/b.png\">\n"),
  ])
  func `A saved page, a feed and a text in Markdown are lists`(name: String, text: String) async throws {
    let fixture = try CommandFixture()
    let base = fixture.server.url("")
    _ = try fixture.directory.write(text.replacing("URL", with: base), as: name)

    let result = try await fixture.fetch(name, "--base", base + "/", "-s8")

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.outputs() == ["a.png", "b.png"])
  }

  @Test(arguments: [
    ("PK\u{3}\u{4}rest of an archive", "is an Excel workbook or another ZIP archive; save the table as CSV"),
    ("<sitemapindex><sitemap><loc>x</loc></sitemap></sitemapindex>", "is an index of sitemaps"),
    ("<html><p>no images</html>", "no rows"),
  ])
  func `A document that is no list is named for what it is`(text: String, message: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write(text, as: "file")

    let result = try await fixture.fetch("file")

    #expect(result.ending == .exit(65) && result.errors.contains(message), "\(result.errors)")
  }

  @Test func `A PDF document that is given as a list is named, and one among the files is an image`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("%PDF-1.7 ...", as: "file")

    let (list, image) = (try await fixture.fetch("-i", "file"), try await fixture.fetch("file"))

    #expect(list.ending == .exit(65) && list.errors.contains("is a PDF file"), "\(list.errors)")
    #expect(image.ending != .exit(65) && image.errors.contains("file://"), "\(image.errors)")
  }
}
