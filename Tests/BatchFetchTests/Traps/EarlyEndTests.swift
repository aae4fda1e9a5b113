import TestSupport
import Testing

@testable import BatchFetch

/// The server sends only the first 64 KiB of a megabyte and then waits forever, so a download ends only if the client
/// rejects it early.
@Suite("Early rejection", .timeLimit(.minutes(10))) struct EarlyEndTests {
  struct Start: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: String
    let bytes: [UInt8]
  }

  /// Returns a JPEG whose frame header declares 60,000 by 60,000 pixels, after `count` bytes of comments.
  private static func jpeg(commentBytes count: Int) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8]
    var left = count
    while left > 0 {
      let length = min(left, 60_000)
      bytes += [0xFF, 0xFE, UInt8((length + 2) >> 8), UInt8((length + 2) & 255)] + Array(repeating: 32, count: length)
      left -= length
    }
    let size: [UInt8] = [0xEA, 0x60, 0xEA, 0x60]
    return bytes + [0xFF, 0xC0, 0, 17, 8] + size + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
  }

  static let starts = [
    Start(
      testDescription: "a PNG with too many pixels", code: "too_many_pixels",
      bytes: SampleImage.pngHeader(width: 60_000, height: 60_000)),
    Start(testDescription: "a JPEG with too many pixels", code: "too_many_pixels", bytes: jpeg(commentBytes: 0)),
    Start(
      testDescription: "a JPEG with too many pixels after 60,000 bytes of comments", code: "too_many_pixels",
      bytes: jpeg(commentBytes: 60_000)),
    Start(testDescription: "a web page", code: "not_an_image", bytes: Array("<!doctype html><title>Gone</title>".utf8)),
    Start(testDescription: "PostScript", code: "unsupported_format", bytes: Array("%!PS-Adobe-3.0\n".utf8)),
    Start(testDescription: "zeros", code: "not_an_image", bytes: []),
  ]

  @Test(arguments: starts)
  func `A body that cannot become a thumbnail is rejected within its first 64 KiB`(start: Start) async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in
      let bytes = start.bytes + Array(repeating: 0, count: (64 << 10) - start.bytes.count)
      return ServerReply([
        .send(ServerReply.head(200, ["Content-Length": "\(1 << 20)"]) + bytes), .wait(gate),
      ])
    }

    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: fixture.request("/a"))
    }

    #expect(failure?.code.description == start.code && failure?.attempts == 1)
    // The server continues and must find the connection closed.
    gate.open()
    await fixture.server.waitForClosedConnections(1)
  }

  @Test func `An image with a late frame header is accepted`() async throws {
    var image = SampleImage.jpeg(width: 40, height: 30)
    let comment = [0xFF, 0xFE, 0xF0, 0x00] + Array(repeating: UInt8(32), count: 0xF000 - 2)
    for _ in 0..<5 { image.insert(contentsOf: comment, at: 2) }
    let bytes = image
    let fixture = try PipelineFixture { _ in .http(200, [:], bytes) }

    #expect(try await fixture.pipeline().thumbnails(for: fixture.request("/a")).sourceBytes == bytes.count)
  }
}
