import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Images that take over their decoder, or that have none, among good ones.
@Suite(.timeLimit(.minutes(10)), .decoderLibraries) struct HostileImageTests {
  private static let attempts = ["crash", "leave", "spin", "stop", "send-garbage", "send-twice", "send-much"]

  /// Serves `/STEP/ATTEMPT` as an image that makes its decoder attempt something, and other paths as a PNG.
  private static func fixture() throws -> PipelineFixture {
    try PipelineFixture { request in
      let words = request.target.split(separator: "/")
      guard words.count == 2 else { return .image() }
      return .http(200, ["Cache-Control": "max-age=3600"], HostileDecoder.image("\(words[0])", "\(words[1])"))
    }
  }

  private static func pipeline(_ fixture: PipelineFixture, program: String = HostileDecoder.program)
    -> ThumbnailPipeline
  {
    fixture.pipeline(change: {
      $0.decoders.program = program
      $0.decoders.timeout = .seconds(2)
      $0.renderThreads = 2
    })
  }

  @Test func `Each image that takes over its decoder is one failed item, and is not cached`() async throws {
    let fixture = try Self.fixture()
    let hostile = Self.attempts.map { "/open/\($0)" } + Self.attempts.map { "/decode/\($0)" }
    // Each hostile image has good ones before and after it: of another process, and of this one.
    let paths = hostile.enumerated().flatMap { ["/no/\($0)", $1, "/\($0)"] }

    for _ in 0..<2 {
      let pipeline = Self.pipeline(fixture)
      var failures: [String: FetchFailure] = [:]
      for await item in Batch(paths.map { fixture.request($0) }, over: pipeline) {
        if case .failure(let failure) = item.outcome { failures[paths[item.index]] = failure }
      }
      await pipeline.flush()
      #expect(failures.keys.sorted() == hostile.sorted())
      #expect(failures.values.allSatisfy { [.image(.decodeError), .image(.decodeLimit)].contains($0.code) })
    }

    let counts = Dictionary(fixture.server.requests.map { ($0.target, 1) }, uniquingKeysWith: +)
    #expect(paths.allSatisfy { counts[$0] == (hostile.contains($0) ? 2 : 1) })
  }

  /// A BMP file of one pixel.
  private static func pixel(_ gray: UInt8) -> [UInt8] {
    let header: [UInt8] = [
      0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24,
    ]
    return header + Array(repeating: 0, count: 54 - header.count) + [gray, gray, gray, 0]
  }

  @Test func `An encoder that crashes fails its row, of which nothing is cached`() async throws {
    let fixture = try PipelineFixture { request in
      // The color is what makes the encoder crash.
      .http(200, ["Cache-Control": "max-age=3600"], Self.pixel(request.target == "/crash" ? 4 : 0))
    }
    let specs = [ThumbnailSpec(width: 1, format: .png), ThumbnailSpec(width: 1, format: .avif)]
    let paths = ["/1", "/crash", "/2"]

    for _ in 0..<2 {
      let pipeline = Self.pipeline(fixture)
      var failed: [String] = []
      for await item in Batch(paths.map { ThumbnailRequest(url: fixture.server.url($0), specs: specs) }, over: pipeline)
      {
        if case .failure(let failure) = item.outcome { failed.append("\(paths[item.index]) \(failure.code)") }
      }
      await pipeline.flush()
      #expect(failed == ["/crash decode_error"])
    }

    let counts = Dictionary(fixture.server.requests.map { ($0.target, 1) }, uniquingKeysWith: +)
    #expect(counts == ["/1": 1, "/crash": 2, "/2": 1])
  }

  @Test(arguments: ["/none/thumbs-decode", ""])
  func `An image without its decoder fails, and succeeds once the decoder is installed`(program: String) async throws {
    let fixture = try Self.fixture()
    let request = fixture.request("/no/attempt")

    let first = Self.pipeline(fixture, program: program)
    let failure = await #expect(throws: FetchFailure.self) { try await first.thumbnails(for: request) }
    await first.flush()

    #expect(failure?.code == .image(.unsupportedFormat))
    #expect(try await Self.pipeline(fixture).thumbnails(for: request).thumbnails.count == 1)
  }
}
