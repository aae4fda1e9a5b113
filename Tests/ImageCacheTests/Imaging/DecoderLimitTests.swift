import CDecodeChannel
import Foundation
import TestSupport
import Testing

@testable import ImageCache

/// The limits of a decoder, and the ways in which it ends.
@Suite(.timeLimit(.minutes(10)), .decoderLibraries) struct DecoderLimitTests {
  private let spec = ThumbnailSpec(width: 16, format: .rgba)

  @Test(arguments: ["open", "decode"], [("exhaust", ImageError.Code.decodeLimit), ("abort", .decodeError)])
  func `A decoder that ends for lack of memory has reached a limit, and one that ends itself has failed`(
    step: String, end: (attempt: String, code: ImageError.Code)
  ) {
    var settings = DecoderIsolation()
    settings.program = HostileDecoder.program
    let error = #expect(throws: ImageError.self) {
      try Renderer(isolation: settings).render(HostileDecoder.image(step, end.attempt), specs: [spec])
    }
    let reason = end.code == .decodeLimit ? "it ran out of memory" : "signal \(SIGABRT) ended it"
    #expect(error == ImageError(end.code, "The process of thumbs-decode failed: \(reason).", origin: .machine))
  }

  @Test func `A decoder that reports a lack of memory has reached a limit of this machine`() throws {
    var reply = DecodeReply()
    reply.status = DecodeStatusOutOfMemory.rawValue

    let error = try reply.error()
    #expect(error?.code == .decodeLimit && error?.origin == .machine)
  }

  @Test(arguments: [1, 2, 3, 4])
  func `A renderer without its first descriptors starts a decoder`(count: Int) throws {
    let renderer = Process()
    renderer.executableURL = URL(filePath: HostileDecoder.program)
    renderer.arguments = ["--render", "\(count)"]
    try renderer.run()
    renderer.waitUntilExit()

    #expect(renderer.terminationStatus == 0)
  }

  @Test(arguments: [(1, 54), (1000, 4050), (.max, 4 * 20 * 86400 + 50)])
  func `The processor time of a decoder suffices for its last image`(timeout: Int64, limit: Int) throws {
    var settings = DecoderIsolation()
    settings.timeout = .seconds(timeout)
    let program = DecoderProgram(path: HostileDecoder.program, name: "thumbs-decode")
    let limits = try DecoderPool(program, settings).withProcess { process throws(DecoderFailure) in
      try? String(contentsOfFile: "/proc/\(process.id)/limits", encoding: .utf8)
    }

    let line = try #require(limits?.split(separator: "\n").first { $0.hasPrefix("Max cpu time") })
    #expect(line.split(separator: " ").dropFirst(3).map(String.init) == ["\(limit)", "\(limit)", "seconds"])
  }

  @Test func `A decoder may have any amount of time`() throws {
    var settings = DecoderIsolation()
    (settings.program, settings.timeout) = (HostileDecoder.program, .seconds(Int64.max))
    let image = HostileDecoder.image("decode", "nothing")
    #expect(try Renderer(isolation: settings).render(image, specs: [spec]).thumbnails.count == 1)

    settings.timeout = .seconds(Int64.min)
    #expect(settings.boundedTimeout == .zero)
  }

  @Test(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
    .enabled(if: DecoderCondition(measuring: DecoderIsolation()).formats.contains(.svg)))
  func `A drawing for which the library gets no memory has reached a limit`() {
    var settings = DecoderIsolation()
    (settings.maxMemory, settings.timeout) = (350 << 20, .seconds(300))
    let elements = String(repeating: "<g a='' b='' c='' d=''/>", count: 300_000)
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>\(elements)</svg>"

    let error = #expect(throws: ImageError.self) {
      try Renderer(isolation: settings).render(Array(drawing.utf8), specs: [spec])
    }
    #expect(error?.code == .decodeLimit && error?.message.contains("memory") == true)
  }
}
