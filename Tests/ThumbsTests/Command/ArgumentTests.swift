import ArgumentParser
import BatchFetch
import Foundation
import TestSupport
import Testing

@testable import thumbs

/// URLs and manifests on the command line.
@Suite("thumbs fetch: arguments", .timeLimit(.minutes(20))) struct ArgumentTests {
  @Test func `URLs and manifests mix, and the rows follow the command line, then --input-file`() async throws {
    let fixture = try CommandFixture()
    let urls = ["/a.png", "/b.png", "/c.png"].map(fixture.server.url)
    _ = try fixture.directory.write(fixture.server.url("/one.png") + "\n", as: "one.txt")
    _ = try fixture.directory.write("url\n" + fixture.server.url("/two.png") + "\n", as: "two.csv")

    let result = try await fixture.fetch("-i", "two.csv", urls[0], urls[1], "one.txt", urls[2])

    #expect(result.ending == .exit(0), "\(result.errors)")
    let rows = try fixture.report().sorted { $0.index < $1.index }
    #expect(rows.map(\.url) == urls[..<2] + [fixture.server.url("/one.png"), urls[2], fixture.server.url("/two.png")])
    #expect(try fixture.outputs() == ["a.png", "b.png", "c.png", "one.png", "two.png"])
  }

  @Test func `Arguments are found although a preloaded library has changed the environment`() async throws {
    let fixture = try CommandFixture()
    // Initializers of the Swift runtime call this function, before `main` and before they look for the arguments.
    let code = """
      #include <fcntl.h>
      #include <stdlib.h>
      #include <sys/stat.h>
      int stat(const char *path, struct stat *status) {
        setenv("EARLY", "1", 1);
        return fstatat(AT_FDCWD, path, status, 0);
      }

      """
    _ = try fixture.directory.write(code, as: "early.c")
    let arguments = fixture.fetchArguments([fixture.server.url("/a.png"), "--isolate", "all"])
    let setup = "clang -shared -fPIC -o early.so early.c && export LD_PRELOAD=$PWD/early.so"

    let result = try await fixture.start(arguments, setup: setup).result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.outputs() == ["a.png"])
  }

  @Test func `A file of --input-file may be standard input, but only once`() async throws {
    let fixture = try CommandFixture()
    let command = try fixture.start(fixture.fetchArguments(["-i", "-"]), input: .pipe)
    command.write(fixture.server.url("/a.png") + "\n")
    command.closeInput()

    #expect(await command.result().ending == .exit(0))
    #expect(try fixture.outputs() == ["a.png"])
    let twice = try await fixture.fetch("-", "-i", "-")
    #expect(twice.errors.contains("give - only once"))
  }

  @Test(arguments: [
    ("https://a.example/x.jpg", true), ("HTTP://a.example/x", true), ("file:///tmp/x.png", true), ("s3://b/x", true),
    ("list.txt", false), ("-", false), ("a:b", false), ("./https://a.example/x", false), ("1://x", false),
    ("data:image/png;base64,AA", true), ("DATA:,x", true), ("data:x", false),
  ])
  func `An argument with a scheme is a URL`(argument: String, isURL: Bool) {
    #expect(ManifestInput(argument: argument) == (isURL ? .url(argument) : .file(argument)))
  }

  @Test(arguments: ["a.example/x.jpg", "www.a.example", "www.a.example/x", "127.0.0.1:8080/a/b.PNG"])
  func `A URL without its scheme is an error that names the remedy, unless it is a file`(argument: String)
    throws
  {
    let options = try ManifestOptions.parse([argument])

    #expect(usageError { _ = try options.inputs { _ in false } }?.contains("put https:// in front of it") == true)
    #expect(try options.inputs { _ in true } == [.file(argument)])
  }

  @Test(arguments: [
    ("http:/a/b", "There is no file 'http:/a/b'. If it is a URL, it needs two slashes: http://a/b"),
    ("HTTPS:a.example/x", "it needs two slashes: https://a.example/x"),
    ("https://", "'https://' has no host"),
    ("http:///x.png", "has no host"), ("http:", "'http:' has no host"), ("HTTPS:/", "'HTTPS:/' has no host"),
  ])
  func `A wrong URL is an error that names the fault, unless it is a file`(argument: String, message: String) throws {
    let options = try ManifestOptions.parse([argument])

    #expect(usageError { _ = try options.inputs { _ in false } }?.contains(message) == true)
    #expect(throws: Never.self) { try options.inputs { $0 == argument } }
  }

  @Test func `A URL as --input-file is an error that names the remedy, unless it is a file`() throws {
    let url = "https://a.example/x.jpg"
    let options = try ManifestOptions.parse(["-i", url])

    #expect(usageError { _ = try options.inputs { _ in false } }?.hasSuffix("give it without --input-file.") == true)
    #expect(try options.inputs { $0 == url } == [.file(url)])
  }

  @Test(arguments: [
    "lists/apps.plist", "./x.jpg", "../a.b/list.csv", "photo.jpg", "/tmp/a.example/x.jpg", "httpd:x", "http",
  ])
  func `A path is not taken for a URL`(argument: String) throws {
    #expect(try ManifestOptions.parse([argument]).inputs { _ in false } == [.file(argument)])
  }

  @Test func `A data: URL is an image, whose report has a digest in its place`() async throws {
    let fixture = try CommandFixture()
    let png = SampleImage.png(width: 40, height: 30)
    let url = "data:image/png;base64," + Data(png).base64EncodedString()
    let list = try fixture.list(urls: [
      url, "data:image/png;base64,?", url, "data:image/png," + String(repeating: "a", count: 999),
    ])

    for round in 1...2 {
      let result = try await fixture.fetch(url, list, "-s8")
      #expect(result.ending == .exit(1), "\(result.errors)")
      let report = try fixture.text("report.jsonl")
      #expect(!report.contains("base64") && !report.contains("aaaa") && !result.errors.contains("base64"))
      let rows = try fixture.report().sorted { $0.index < $1.index }
      #expect(rows.map { $0.code ?? $0.status } == ["ok", "ok", "bad_url", "ok", "not_an_image"])
      #expect(rows[0].url == "data:image/png,sha256-\(BodyDigest(of: png))")
      #expect(Set(rows.compactMap(\.origin)).isSubset(of: round == 1 ? ["file", "memory"] : ["disk", "memory"]))
    }
    #expect(try fixture.outputs() == ["image.png"])
  }

  @Test func `A URL with a scheme that is not supported fails its row only`() async throws {
    let fixture = try CommandFixture()

    let result = try await fixture.fetch("s3://bucket/x.png", fixture.server.url("/a.png"), "file:///etc/hostname")

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().map(\.status).sorted() == ["failed", "failed", "ok"])
    #expect(try fixture.outputs() == ["a.png"])
  }

  @Test func `With --allow-file, a local image that is an argument is never overwritten`() async throws {
    let fixture = try CommandFixture()
    let photo = SampleImage.png(width: 40, height: 30, seed: 1)
    let path = try fixture.directory.write(photo, as: "x.png")

    let result = try await fixture.fetch("--allow-file", "--overwrite", "file://" + path, "-s8", "-o.")

    #expect(result.ending == .exit(1), "\(result.errors)")
    #expect(try Array(fixture.data("x.png")) == photo)
  }
}
