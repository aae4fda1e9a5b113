import Foundation
import ImageCache
import TestSupport
import Testing

@testable import thumbs

/// The SHA-256 of the sources: expected by rows, rejected, and reported.
@Suite("thumbs fetch: content", .timeLimit(.minutes(20))) struct ContentCommandTests {
  private static let image = SampleImage.png(width: 20, height: 20, seed: 1)
  private static let digest = BodyDigest(of: image).description

  private func fixture() throws -> CommandFixture { try CommandFixture { _ in .http(200, [:], Self.image) } }

  /// Writes a list of rows with the values of `sha256`; without one if it is nil.
  private func list(_ fixture: CommandFixture, _ digests: [String?]) throws -> String {
    let rows = digests.enumerated().map { number, digest in
      let member = digest.map { #","sha256":"\#($0)""# } ?? ""
      return #"{"url":"\#(fixture.server.url("/\(number).png"))"\#(member)}"# + "\n"
    }
    _ = try fixture.directory.write(rows.joined(), as: "list.jsonl")
    return "list.jsonl"
  }

  private func codes(_ fixture: CommandFixture) throws -> [String] {
    try fixture.report().map { $0.code ?? $0.status }
  }

  @Test func `Each row's SHA-256 is checked before its file is written, and every source's is reported`() async throws {
    let fixture = try fixture()
    let wrong = String(repeating: "0", count: 64)
    let list = try list(fixture, [Self.digest, Self.digest.uppercased(), wrong, nil, "12"])

    let result = try await fixture.fetch(list)

    #expect(result.ending == .exit(1))
    #expect(try codes(fixture) == ["ok", "ok", "hash_mismatch", "ok", "bad_row"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("out")).count == 3)
    let lines = try fixture.text("report.jsonl").split(separator: "\n")
    #expect(lines.count { $0.contains(#""sha256":"\#(Self.digest)"}"#) } == 3)
    #expect(lines.contains { $0.contains("sha256: give a SHA-256 digest, which has 64 hexadecimal digits") })
  }

  @Test func `A retry expects the same bytes`() async throws {
    let fixture = try fixture()
    _ = try await fixture.fetch(try list(fixture, [String(repeating: "0", count: 64)]))

    let result = try await fixture.run(
      "retry", "--all-failed", "report.jsonl", "--cache-dir", fixture.cache, "--progress", "none")

    #expect(result.ending == .exit(1))
    #expect(try codes(fixture) == ["hash_mismatch"])
  }

  @Test func `With --require-hash, a row without one is a bad row, also in a dry run and in the worker`() async throws {
    let fixture = try fixture()
    let list = try list(fixture, [Self.digest, nil])

    let result = try await fixture.fetch(list, "--require-hash")
    let dry = try await fixture.run("fetch", "-n", list, "--require-hash")
    let worker = try fixture.start(
      ["worker", "--no-cache", "--protocol", "jsonl", "--no-bodies", "--require-hash"], input: .pipe)
    worker.write(#"{"id":1,"url":"\#(fixture.server.url("/a.png"))"}"#)
    worker.closeInput()

    #expect(result.ending == .exit(1) && dry.ending == .exit(1))
    #expect(try codes(fixture) == ["ok", "bad_row"])
    #expect(dry.errors == "thumbs: The row has no SHA-256 of its image, and --require-hash demands one.\n")
    #expect(await worker.result().output.contains(#""code":"bad_row""#))
  }

  @Test func `Files in the lists of --reject-hash and images that are too small fail`() async throws {
    let fixture = try fixture()
    _ = try fixture.directory.write("# Placeholders\n\n\(Self.digest)  placeholder.png\n", as: "rejected.txt")
    let list = try list(fixture, [nil])

    #expect(try await fixture.fetch(list, "--reject-hash", "rejected.txt").ending == .exit(1))
    #expect(try codes(fixture) == ["rejected_hash"])
    #expect(try await fixture.fetch(list, "--min-pixels", "401").ending == .exit(1))
    #expect(try codes(fixture) == ["too_few_pixels"])
    #expect(try await fixture.fetch(list, "--min-pixels", "400").ending == .exit(0))
    #expect(try await fixture.fetch(list, "--max-aspect-ratio", "1").ending == .exit(0))
  }

  @Test(arguments: [
    (["--reject-hash", "none.txt"], "none.txt"), (["--reject-hash", "bad.txt"], "bad.txt, line 2"),
    (["--trim=256"], "give a number from 0 to 255"), (["--sharpen=-1"], "give a number from 0 to 200"),
    (["--min-pixels", "few"], "give a number of pixels"), (["--max-aspect-ratio", "0.5"], "give a ratio from 1 on"),
  ])
  func `A list that cannot be used is a usage error`(options: [String], message: String) async throws {
    let fixture = try fixture()
    _ = try fixture.directory.write("\(Self.digest)\nabc\n", as: "bad.txt")

    let result = try await fixture.start(fixture.fetchArguments([try list(fixture, [nil])] + options)).result()

    #expect(result.ending == .exit(64) && result.errors.contains(message), "\(result.errors)")
  }

  @Test(arguments: [
    ("--trim a.png", "--trim=10 a.png"), ("--trim 20 a.png", "--trim 20 a.png"), ("a --sharpen", "a --sharpen=33"),
    ("--sharpen --trim", "--sharpen=33 --trim=10"), ("--trim -- 9", "--trim=10 -- 9"), ("-- --trim", "-- --trim"),
  ])
  func `The border and the sharpening have usual numbers`(line: String, full: String) {
    func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
    #expect(PixelOptions.addingNumbers(to: words(line)) == words(full))
  }

  /// A bitmap of 40 by 30 pixels: white around 24 by 20 blue ones.
  private static let framed: [UInt8] = {
    func bytes(_ values: [Int], _ size: Int) -> [UInt8] {
      values.flatMap { value in (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    }
    let header = bytes([54 + 40 * 30 * 3, 0, 54, 40, 40, 30], 4) + bytes([1, 24], 2) + bytes([0, 0, 0, 0, 0, 0], 4)
    let pixels = (0..<30 * 40).flatMap { place -> [UInt8] in
      (8..<32).contains(place % 40) && (5..<25).contains(place / 40) ? [200, 0, 0] : [255, 255, 255]
    }
    return Array("BM".utf8) + header + pixels
  }()

  @Test func `A thumbnail without the border is another one in the cache than with it`() async throws {
    let fixture = try CommandFixture { _ in .http(200, ["Cache-Control": "max-age=60"], Self.framed) }
    let url = fixture.server.url("/product.bmp")
    for (options, size, requests) in [
      ([], "40x30", 1), (["--trim"], "24x20", 2), (["--trim=10"], "24x20", 2),
      (["--trim", "9", "--sharpen"], "24x20", 3),
    ] {
      let result = try await fixture.start(fixture.fetchArguments([url, "-s", "100"] + options)).result()
      let sides = size.split(separator: "x")
      #expect(result.ending == .exit(0), "\(result.errors)")
      #expect(try fixture.text("report.jsonl").contains(#""width":\#(sides[0]),"height":\#(sides[1]),"format""#))
      #expect(fixture.server.requests.count == requests)
    }
  }

  @Test func `A digest has 64 hexadecimal digits`() {
    #expect(BodyDigest(Self.digest)?.description == Self.digest)
    #expect(BodyDigest(Self.digest.uppercased())?.description == Self.digest)
    for text in ["", String(Self.digest.dropLast()), Self.digest + "0", String(repeating: "g", count: 64)] {
      #expect(BodyDigest(text) == nil)
    }
  }
}
