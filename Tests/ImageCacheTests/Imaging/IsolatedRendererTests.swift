import CDecodeChannel
import Foundation
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

  @Test(arguments: [
    "", "whole", "whole\nthumbnail jpeg 40 30 10", "whole\nthumbnail png 40 29 10", "whole\nthumbnail png 40 30 11",
    "whole\nthumbnail png 40 30 -1", "whole\nthumbnail png 40 30 99999999999999999999", "whole\nthumbnail tiff 40 30 1",
    "whole\nthumbnail png 40 30 5\nthumbnail png 40 30 5", "failed", "failed no_code Reason", "other",
  ])
  func `An outcome that is not due is a failure of the process`(text: String) throws {
    let file = SampleImage.png(width: 80, height: 60)
    let spec = ThumbnailSpec(width: 40, format: .png)
    let decoder = try ImageFile(file.span, limits: Renderer().limits, decoders: .missing).decoder
    let plan = RenderPlan(decoder, specs: [spec])
    let memory = Array(text.utf8) + Array(repeating: 0, count: 10)
    var reply = DecodeReply()
    reply.textCount = UInt64(text.utf8.count)

    #expect(throws: DecoderFailure.self) {
      try memory.withUnsafeBytes { memory in
        try RenderOutcome.judged(memory, reply, [spec], decoder.header.source, plan)
      }
    }
  }

  @Test func `A lack of memory in the process is a limit, which another attempt would reach, too`() {
    let error = RenderOutcome("failed out_of_memory Out of memory for the image.")?.error

    #expect(error?.code == .decodeLimit && error?.origin == .machine)
  }

  @Test(arguments: [0, 4799, 4801, 4800 + (1 << 20)])
  func `Pixels of another count are a failure of the process`(count: Int) throws {
    let file = SampleImage.png(width: 80, height: 60)
    let spec = ThumbnailSpec(width: 40, format: .rgba)
    let decoder = try ImageFile(file.span, limits: Renderer().limits, decoders: .missing).decoder
    func judge(_ count: Int) throws {
      let text = Array("whole\nthumbnail rgba 40 30 \(count)".utf8)
      let memory = text + Array(repeating: 0, count: count)
      var reply = DecodeReply()
      reply.textCount = UInt64(text.count)
      try memory.withUnsafeBytes { memory in
        _ = try RenderOutcome.judged(memory, reply, [spec], decoder.header.source, RenderPlan(decoder, specs: [spec]))
      }
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
