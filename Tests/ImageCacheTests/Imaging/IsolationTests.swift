import Foundation
import TestSupport
import Testing

@testable import ImageCache

/// A decoder that was taken over can do nothing but fail its image.
@Suite(.timeLimit(.minutes(10)), .decoderLibraries) struct `Isolated decoders` {
  /// Renders with the decoder that does what its image says.
  private static func renderer(_ change: (inout DecoderIsolation) -> Void = { _ in }) -> Renderer {
    var isolation = DecoderIsolation.patient
    isolation.program = HostileDecoder.program
    change(&isolation)
    return Renderer(isolation: isolation)
  }

  private static let spec = ThumbnailSpec(width: 16, format: .rgba)
  private static let steps = ["open", "decode"]
  private static let attempts = [
    "read-file", "read-relative", "read-memory", "write-file", "write-font", "list-directory", "connect-internet",
    "connect-local", "fork", "run-new-code", "allocate", "lock-file", "open-path",
  ]
  /// Attempts that only namespaces refuse, which some systems do not allow.
  private static let hiddenAttempts = isHidden ? ["find-file"] : []
  private static let isHidden = {
    var isolation = DecoderIsolation()
    isolation.program = HostileDecoder.program
    return DecoderCondition(measuring: isolation).protections.contains("namespaces")
  }()

  @Test(arguments: steps, attempts + hiddenAttempts)
  func `An attempt to leave the sandbox is refused`(step: String, attempt: String) throws {
    let rendering = try Self.renderer().render(HostileDecoder.image(step, attempt), specs: [Self.spec])

    // Red would show that the attempt was possible.
    #expect(rendering.thumbnails[0].bytes.prefix(4) == [0, 255, 0, 255])
    #expect(rendering.warnings.count == 1 && rendering.warnings != ["possible"])
  }

  @Test func `A decoder that changes its pixels while they are read changes all thumbnails alike`() throws {
    let renderer = Self.renderer()
    let fits: [ThumbnailSpec.Fit] = [.inside, .cover, .stretch]
    let specs = fits.map { ThumbnailSpec(width: 8, height: 8, fit: $0, format: .rgba) }
    for _ in 0..<200 {
      let image = HostileDecoder.image("decode", "keep-changing-pixels")
      let thumbnails = try renderer.render(image, specs: specs).thumbnails
      #expect(thumbnails.allSatisfy { $0.bytes == thumbnails[0].bytes })
    }
  }

  @Test(arguments: zip([64, 33, 20, 16, 8, 4, 2], [0, 0, 0, 1, 2, 3, 4] as [UInt8]))
  func `A decoder halves an image as often as twice the pixels of the thumbnail remain`(
    width: Int, halvings: UInt8
  ) throws {
    let spec = ThumbnailSpec(width: width, format: .rgba)
    let rendering = try Self.renderer().render(HostileDecoder.image("halvable", "image"), specs: [spec])

    // Its blue color is the number of halvings.
    #expect(rendering.source.size == PixelSize(width: 65, height: 33))
    #expect(rendering.thumbnails[0].bytes.prefix(4) == [0, 255, halvings, 255])
  }

  @Test func `The largest thumbnail decides how often a decoder halves an image`() throws {
    let specs = [4, 16].map { ThumbnailSpec(width: $0, format: .rgba) }
    let rendering = try Self.renderer().render(HostileDecoder.image("halvable", "image"), specs: specs)

    #expect(rendering.thumbnails.allSatisfy { $0.bytes.prefix(4) == [0, 255, 1, 255] })
  }

  @Test func `A decoder that halves too often misbehaves`() {
    let error = #expect(throws: ImageError.self) {
      try Self.renderer().render(HostileDecoder.image("too-many-halvings", "image"), specs: [Self.spec])
    }
    #expect(error?.code == .decodeError)
  }

  private static let ends = [
    "exec", "trace-parent", "signal-parent", "signal-thread", "signal-by-descriptor", "exhaust", "abort", "crash",
    "leave", "stop", "spin", "send-garbage", "send-much", "send-twice", "send-descriptor",
    "send-two-descriptors", "send-many-descriptors",
  ]

  @Test(arguments: steps, ends)
  func `A decoder that misbehaves fails its image, and the next image has a new one`(
    step: String, attempt: String
  ) throws {
    let renderer = Self.renderer { $0.timeout = .seconds(2) }

    let error = #expect(throws: ImageError.self) {
      try renderer.render(HostileDecoder.image(step, attempt), specs: [Self.spec])
    }
    #expect([.decodeError, .decodeLimit].contains(error?.code))
    #expect(try renderer.render(HostileDecoder.image("no", "attempt"), specs: [Self.spec]).thumbnails.count == 1)
  }

  #if WebP
    private static let moving = ThumbnailSpec(width: 16, frames: .all)

    @Test(arguments: [("still", [100, 100, 100]), ("for-ever", [100, 100, 59_800])])
    func `A sequence is decoded frame by frame, and no duration makes it longer than the limit`(
      attempt: String, durations: [Int]
    ) throws {
      let rendering = try Self.renderer().render(HostileDecoder.sequence("no", attempt), specs: [Self.moving])

      #expect(rendering.warnings.isEmpty && rendering.thumbnails[0].format == .webp)
      #expect(try Film(rendering.thumbnails[0]).durations == durations)
    }

    @Test(arguments: ["time", "third-frame"], ends)
    func `A decoder that misbehaves during a sequence fails it, and the next image has a new one`(
      step: String, attempt: String
    ) throws {
      let renderer = Self.renderer { $0.timeout = .seconds(2) }

      let error = #expect(throws: ImageError.self) {
        try renderer.render(HostileDecoder.sequence(step, attempt), specs: [Self.moving])
      }
      #expect([.decodeError, .decodeLimit].contains(error?.code) && error?.isFinal == false)
      #expect(try renderer.render(HostileDecoder.image("no", "attempt"), specs: [Self.spec]).thumbnails.count == 1)
    }

    @Test(arguments: ["too-many-frames", "growing-image"])
    func `A decoder that declares too many frames, or another size for its frames, misbehaves`(attempt: String) {
      let error = #expect(throws: ImageError.self) {
        try Self.renderer().render(HostileDecoder.sequence("no", attempt), specs: [Self.moving])
      }
      #expect(error?.code == .decodeError)
    }

    /// A renderer with one process and so little memory that one image is rendered at a time.
    private static func frugalRenderer() -> Renderer {
      var isolation = DecoderIsolation.patient
      isolation.program = HostileDecoder.program
      (isolation.maxMemory, isolation.maxTotalMemory) = (512 << 20, 512 << 20)
      return Renderer(maxMemory: 1, isolation: isolation)
    }

    @Test func `With one process, a sequence does not wait for the one that has opened it`() {
      let renderer = Self.frugalRenderer()

      DispatchQueue.concurrentPerform(iterations: 8) { number in
        let file =
          number % 2 == 0 ? HostileDecoder.sequence("no", "attempt") : HostileDecoder.image("no", "attempt")
        #expect(throws: Never.self) { try renderer.render(file, specs: [Self.moving]) }
        #expect(renderer.caches.places.takenCount <= 1)
      }
    }

    @Test func `A thread that waits for a process to decode a sequence holds no memory`() async throws {
      let (renderer, file) = (Self.frugalRenderer(), HostileDecoder.sequence("no", "attempt"))
      let found = try AnimationRenderer.opened(file, [Self.moving], renderer)
      let opened = try #require(found)
      let pool = renderer.caches.decoders.images
      let process = try pool.take()
      let (granted, rendered) = (Recorder<Bool>(), Recorder<Int>())
      Thread {
        let outcome = try? AnimationRenderer(file, opened, renderer, parts: [:]).render([Self.moving])
        rendered.record(outcome?.thumbnails.count ?? 0)
      }.start()
      await eventually { renderer.caches.places.sleeperCount == 1 }

      Thread {
        renderer.memory.enter(1 << 20)
        renderer.memory.leave(1 << 20)
        granted.record(true)
      }.start()
      _ = await granted.values(count: 1)

      pool.giveBack(process)
      #expect(await rendered.values(count: 1) == [1])
    }
  #endif

  /// The names of formats and the first bytes of their files, one character per byte.
  private static let starts: [(name: String, start: String)] = [
    ("AVIF", "\0\0\0\u{20}ftypavif\0\0\0\0"), ("AVIF", "\0\0\0\u{20}ftypavis\0\0\0\0"),
    ("HEIC", "\0\0\0\u{18}ftypheic\0\0\0\0"), ("HEIC", "\0\0\0\u{10}ftypmif1\0\0\0\0"),
    ("AVIF", "\0\0\0\u{18}ftypmif1\0\0\0\0miafavif"), ("HEIC", "\0\0\0\u{18}ftypmif1\0\0\0\0miafheic"),
    ("AVIF", "\0\0\0\u{10}ftypMA1B\0\0\0\0"), ("HEIC", "\0\0\0\u{10}ftypMiHE\0\0\0\0"),
    ("TIFF", "II*\0\u{8}\0\0\0"), ("TIFF", "MM\0*\0\0\0\u{8}"), ("TIFF", "II+\0\u{8}\0\0\0"),
    ("Camera raw", "II*\0\u{10}\0\0\0CR\u{2}\0"), ("Camera raw", "\0\0\0\u{18}ftypcrx \0\0\0\u{1}"),
    ("PSD", "8BPS\0\u{1}\0\0\0\0"), ("PSD", "8BPS\0\u{2}\0\0\0\0"),
    ("JPEG XL", "\u{FF}\n\u{FA}\u{1F}"), ("JPEG XL", "\0\0\0\u{C}JXL \r\n\u{87}\n"),
    ("JPEG 2000", "\0\0\0\u{C}jP  \r\n\u{87}\n"), ("JPEG 2000", "\u{FF}O\u{FF}Q\0/"),
    ("SVG", "<svg xmlns=\"http://www.w3.org/2000/svg\">"), ("SVG", "\n <svg:svg>"), ("SVG", "\u{1F}\u{8B}\u{8}\0"),
    ("SVG", "\u{EF}\u{BB}\u{BF}<?xml version=\"1.0\"?>\n<!-- an <icon> -->\n<svg width=\"1\">"),
    ("SVG", "<!DOCTYPE svg PUBLIC 'a' 'b' [ <!ENTITY c 'd'> ]><svg/>"),
    ("SVG", "\u{FF}\u{FE}<\0s\0v\0g\0 \0"), ("SVG", "\u{FE}\u{FF}\0<\0s\0v\0g\0>"),
  ]

  @Test(arguments: starts)
  func `A format of another process is recognized, and without its program it is refused by name`(
    name: String, start: String
  ) {
    let bytes = start.unicodeScalars.map { UInt8($0.value) }
    let renderer = Self.renderer { $0.program = "/none/thumbs-decode" }

    let error = #expect(throws: ImageError.self) { try renderer.render(bytes, specs: [Self.spec]) }
    #expect(error?.code == .unsupportedFormat && error?.message.hasPrefix("\(name) needs") == true)
  }

  @Test(arguments: [
    "<!-- <svg> --><html>", "<!DOCTYPE html><svg></svg><p>", "<!-- a --> <!doctype HTML >\n<svg></svg>",
    "<html><svg></svg></html>", "<?xml version='1.0'?><rss>", "<svgx>", "x<svg>",
  ])
  func `Markup with another root element is no drawing`(text: String) throws {
    let marks: [(String.Encoding, [UInt8])] = [
      (.utf8, []), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
    ]
    for (encoding, mark) in marks {
      let bytes = mark + (try #require(text.data(using: encoding)))
      let error = #expect(throws: ImageError.self) { try Self.renderer().render(bytes, specs: [Self.spec]) }
      #expect(error?.code == .notAnImage)
    }
  }
}
