import CDecodeChannel
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ImageCache

/// Rendering in another process gives the same outcome.
@Suite(
  .timeLimit(.minutes(10)), .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
  .decoderLibraries)
struct IsolatedRendererTests {
  private static let path = HostileDecoder.folder.appending(path: "thumbs").path

  private static func renderer(_ program: String = path, inks: InkProfile? = nil) -> Renderer {
    var isolation = DecoderIsolation()
    (isolation.scope, isolation.renderer) = (.all, program)
    return Renderer(inks: inks, isolation: isolation)
  }

  private static let specs = [
    ThumbnailSpec(width: 40), ThumbnailSpec(width: 20, height: 30, fit: .cover, format: .png),
    ThumbnailSpec(width: 30, fit: .pad, format: .rgba), ThumbnailSpec(width: 25, format: .smallest),
    ThumbnailSpec(width: 50, fit: .outside, trim: 10, sharpening: 33), ThumbnailSpec(width: 30, frames: .all),
    ThumbnailSpec(width: 30, format: .gif, frames: .all),
  ]

  /// Whole files of every format, and their first halves.
  private static func files() throws -> [(name: String, bytes: [UInt8])] {
    let images = try Fixtures.names.map { ($0, try Fixtures.image($0)) }
    let webp = try Fixtures.webp.map { ($0, try Fixtures.webp($0)) }
    let whole = images + webp + Fixtures.tiny.map { ($0.key, $0.value) }
    return whole + whole.map { ("half of \($0)", Array($1.prefix($1.count / 2))) }
  }

  @Test func `Each file gives the same thumbnails, warnings and errors as in this process`() throws {
    let isolated = Self.renderer()
    for (name, bytes) in try Self.files() {
      let there = Result { () throws(ImageError) in try isolated.render(bytes, specs: Self.specs) }
      let here = Result { () throws(ImageError) in try Renderer().render(bytes, specs: Self.specs) }
      switch (there, here) {
      case (.success(let there), .success(let here)):
        #expect(there.thumbnails == here.thumbnails && there.source == here.source, "\(name)")
        #expect(there.warnings == here.warnings, "\(name)")
      case (.failure(let there), .failure(let here)): #expect(there == here, "\(name)")
      default: Issue.record("\(name): \(there) is not \(here)")
      }
    }
  }

  @Test func `Limits, the tolerance and an ink profile apply in the other process`() throws {
    let photo = SampleImage.jpeg(width: 300, height: 200)
    var tolerant = Self.renderer()
    tolerant.failLevel = .none

    #expect(try tolerant.render(Array(photo.prefix(photo.count / 2)), specs: Self.specs).isDamaged)
    let cmyk = try Fixtures.image("cmyk.jpg")
    let inks = try InkProfile(`Color profiles`.profile(of: "cmyk-profile.jpg"))
    let printed = try Self.renderer(inks: inks).render(cmyk, specs: Self.specs)
    #expect(printed.thumbnails == (try Renderer(inks: inks).render(cmyk, specs: Self.specs)).thumbnails)
    #expect(printed.thumbnails != (try Renderer().render(cmyk, specs: Self.specs)).thumbnails)
  }

  @Test(arguments: [
    ("/none/thumbs", ImageError.Code.unsupportedFormat), ("/bin/true", .unsupportedFormat),
    (HostileDecoder.program, .decodeError),
  ])
  func `A program that does not render fails each image`(program: String, code: ImageError.Code) {
    let error = #expect(throws: ImageError.self) {
      try Self.renderer(program).render(SampleImage.png(width: 9, height: 9), specs: Self.specs)
    }
    #expect(error?.origin == .machine && error?.code == code)
  }

  /// Judges the outcome of rendering an image of 80 by 60 pixels: a text, and the files behind it.
  @discardableResult
  private static func judge(_ text: String, _ files: [[UInt8]], _ specs: [ThumbnailSpec]) throws -> [Thumbnail] {
    let file = SampleImage.png(width: 80, height: 60)
    let decoder = try ImageFile(file.span, limits: Renderer().limits, decoders: .missing).decoder
    let content = Array(text.utf8) + files.flatMap(\.self)
    let memory = try SharedMemory(holding: content.span)
    var reply = DecodeReply()
    reply.textCount = UInt64(text.utf8.count)
    let plan = RenderPlan(decoder, specs: specs)
    return try RenderOutcome.judged(memory, reply, specs, decoder.header.source, plan).get().thumbnails
  }

  private static func line(_ thumbnail: Thumbnail) -> String {
    "\nthumbnail \(thumbnail.format) \(thumbnail.size.width) \(thumbnail.size.height) \(thumbnail.bytes.count)"
  }

  @Test(arguments: [
    "", "whole", "whole\nthumbnail jpeg 40 30 10", "whole\nthumbnail png 40 29 10", "whole\nthumbnail png 40 30 11",
    "whole\nthumbnail png 40 30 -1", "whole\nthumbnail png 40 30 99999999999999999999", "whole\nthumbnail tiff 40 30 1",
    "whole\nthumbnail png 40 30 5\nthumbnail png 40 30 5", "failed", "failed no_code Reason", "other",
    "whole\nthumbnail png 40 30 10", "whole\n" + String(repeating: "a", count: 1 << 20),
  ])
  func `An outcome that is not due is a failure of the process`(text: String) {
    #expect(throws: DecoderFailure.self) {
      try Self.judge(text, [Array(repeating: 0, count: 10)], [ThumbnailSpec(width: 40, format: .png)])
    }
  }

  @Test(arguments: [ThumbnailSpec.Format.auto, .jpeg, .png, .webp, .rgba, .placeholder])
  func `Only a whole thumbnail of the format and size that are due is accepted`(format: ThumbnailSpec.Format) throws {
    let spec = ThumbnailSpec(width: 40, format: format)
    let right = try Renderer().render(SampleImage.png(width: 80, height: 60), specs: [spec]).thumbnails[0]
    #expect(try Self.judge("whole" + Self.line(right), [right.bytes], [spec]) == [right])

    let page = Array("<html><script>alert(1)</script></html>".utf8)
    let other = try Renderer().render(SampleImage.png(width: 60, height: 80), specs: [spec]).thumbnails[0].bytes
    var forged: [[UInt8]] = [
      page, page + right.bytes, right.bytes + page, right.bytes + right.bytes, Array(right.bytes.dropLast()), [],
    ]
    // Pixels have no header with their size.
    if right.format != .rgba && right.format != .placeholder { forged.append(other) }
    for other in [ThumbnailSpec.Format.jpeg, .png, .webp, .rgba] where other.output != right.format {
      let spec = ThumbnailSpec(width: 40, format: other)
      forged.append(try Renderer().render(SampleImage.png(width: 80, height: 60), specs: [spec]).thumbnails[0].bytes)
    }
    for (index, bytes) in forged.enumerated() {
      var thumbnail = right
      thumbnail.bytes = Array(bytes)
      #expect(throws: DecoderFailure.self, "\(index)") {
        try Self.judge("whole" + Self.line(thumbnail), [thumbnail.bytes], [spec])
      }
    }
  }

  @Test(arguments: [ThumbnailSpec.Format.jpeg, .webp, .rgba])
  func `A format that the file of the source does not have is not accepted for it`(format: ThumbnailSpec.Format) throws
  {
    let spec = ThumbnailSpec(width: 40, format: format)
    let other = try Renderer().render(SampleImage.png(width: 80, height: 60), specs: [spec]).thumbnails[0]
    #expect(throws: DecoderFailure.self) {
      try Self.judge("whole" + Self.line(other), [other.bytes], [ThumbnailSpec(width: 40)])
    }
  }

  /// A trap would end the process of the tests.
  @Test func `A process that changes its outcome while it is read fails its image at most`() async {
    await #expect(processExitsWith: .success) {
      let text = Array("failed decode_error \(String(repeating: "é", count: 200))".utf8)
      let memory = try SharedMemory(holding: text.span, capacity: 1 << 12)
      let file = SampleImage.png(width: 8, height: 8)
      let decoder = try ImageFile(file.span, limits: Renderer().limits, decoders: .missing).decoder
      let plan = RenderPlan(decoder, specs: [ThumbnailSpec(width: 4)])
      var reply = DecodeReply()
      reply.textCount = UInt64(text.count)
      let end = Atomic(false)
      let changes = DispatchGroup()
      DispatchQueue.global().async(group: changes) {
        // The second byte of characters: valid, and not.
        while !end.load(ordering: .relaxed) {
          for byte: UInt8 in [0xFF, 0xA9] {
            for offset in stride(from: 21, to: text.count, by: 2) {
              memory.start.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            }
          }
        }
      }
      for _ in 0..<10_000 {
        _ = try? RenderOutcome.judged(memory, reply, [ThumbnailSpec(width: 4)], decoder.header.source, plan)
      }
      end.store(true, ordering: .relaxed)
      changes.wait()
    }
  }

  @Test func `The texts of an outcome are bounded on both sides`() throws {
    let long = String(repeating: "é", count: 100_000)
    let rendering = Renderer.Rendering(
      source: SourceImage(size: PixelSize(width: 1, height: 1), format: .png), thumbnails: [],
      warnings: Array(repeating: long, count: 10_000))

    for result in [Result<_, ImageError>.success(rendering), .failure(ImageError(.decodeError, long))] {
      let text = RenderOutcome(result).text
      #expect(text.utf8.count <= RenderOutcome.maxTextBytes(of: 0))
      let outcome = try #require(RenderOutcome(text))
      let lines = outcome.warnings + (outcome.error.map { [$0.message] } ?? [])
      #expect(lines.count == (outcome.error == nil ? 64 : 1) && lines.allSatisfy { $0.utf8.count <= 514 })
    }
    let outcome = try #require(RenderOutcome("failed decode_error \(long)"))
    #expect(outcome.error?.message.utf8.count ?? .max <= 514)
  }

  @Test func `A lack of memory in the process is a limit, which another attempt would reach, too`() {
    let error = RenderOutcome("failed out_of_memory Out of memory for the image.")?.error

    #expect(error?.code == .decodeLimit && error?.origin == .machine)
  }

  @Test(arguments: [0, 4799, 4801, 4800 + (1 << 20)])
  func `Pixels of another count are a failure of the process`(count: Int) throws {
    let spec = ThumbnailSpec(width: 40, format: .rgba)
    func judge(_ count: Int) throws {
      try Self.judge("whole\nthumbnail rgba 40 30 \(count)", [Array(repeating: 0, count: count)], [spec])
    }

    try judge(40 * 30 * 4)
    #expect(throws: DecoderFailure.self) { try judge(count) }
  }

  @Test func `The other process has the protections of the sandbox`() throws {
    let program = DecoderProgram(path: Self.path, name: "thumbs-render")
    let state = try DecoderPool(program, DecoderIsolation()).withProcess { process throws(DecoderFailure) in
      try? String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
    }

    #expect(state?.contains("NoNewPrivs:\t1") == true && state?.contains("Seccomp:\t2") == true)
  }
}
