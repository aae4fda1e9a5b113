import CDecodeChannel
import CDecoder
import Glibc
import ImageCache

/// The image that is open in a process that renders for another one.
private struct RenderSession {
  private var image: [UInt8] = []
  /// The renderer of the last image, and the profile that it has for CMYK images.
  private var (renderer, inks) = (Renderer(), [UInt8]())

  /// Carries out a request: opens an image, or renders its thumbnails into the memory file.
  mutating func reply(to request: DecodeRequest, _ descriptor: Int32) -> DecodeReply {
    var reply = DecodeReply()
    let done: Bool
    if request.step == DecodeStepOpen.rawValue {
      done = open(descriptor, Int(clamping: request.byteCount))
    } else {
      reply.textCount = UInt64(render(descriptor, textCount: Int(clamping: request.textCount)) ?? 0)
      done = reply.textCount > 0
    }
    reply.status = done ? DecodeStatusOK.rawValue : DecodeStatusOutOfMemory.rawValue
    return reply
  }

  private mutating func open(_ descriptor: Int32, _ count: Int) -> Bool {
    guard let memory = MappedFile(descriptor, PROT_READ), count <= memory.count else { return false }
    image = memory.copied(0..<count)
    return true
  }

  /// Replaces the text in a memory file by that of the outcome, followed by the thumbnails. Returns the size of the
  /// text; nil if the file is too small.
  private mutating func render(_ descriptor: Int32, textCount: Int) -> Int? {
    guard let memory = MappedFile(descriptor, PROT_READ | PROT_WRITE), textCount <= memory.count else {
      return nil
    }
    let text = String(decoding: memory.copied(0..<textCount), as: UTF8.self)
    let result = rendering(text) { memory.copied(textCount..<textCount + min(max(0, $0), memory.count - textCount)) }
    image = []
    let outcome = Array(RenderOutcome(result).text.utf8)
    let files = (try? result.get())?.thumbnails.map(\.bytes) ?? []
    return memory.write([outcome] + files) ? outcome.count : nil
  }

  private mutating func rendering(
    _ text: String, inks: (_ count: Int) -> [UInt8]
  ) -> Result<Renderer.Rendering, ImageError> {
    guard let order = RenderOrder(text, base: { renderer(inks: inks($0)) }) else {
      return .failure(ImageError(.badSpec, "The request is of another version."))
    }
    return Result { () throws(ImageError) in try order.renderer.render(image, specs: order.specs) }
  }

  /// Returns the renderer of the last image, or another one if the profile differs; nil if it is not valid.
  private mutating func renderer(inks: [UInt8]) -> Renderer? {
    guard inks != self.inks else { return renderer }
    let profile = try? InkProfile(inks)
    guard profile != nil || inks.isEmpty else { return nil }
    (renderer, self.inks) = (Renderer(inks: profile), inks)
    return renderer
  }
}

/// The life of a process that renders for another process of `thumbs`, in a sandbox: `--isolate all`.
enum RenderProcess {
  /// The name by which `thumbs` is called then.
  static let name = "thumbs-render"

  /// Renders until the other process closes its socket. Returns the exit status.
  static func run() -> Int32 {
    prepare()
    var hello = DecodeHello()
    hello.version = UInt32(DecodeVersion)
    var settings = decoder_settings(process_argument_count(), process_arguments())
    decoder_close_sandbox(&settings, &hello)
    guard decode_send(Int32(DecodeSocket), &hello, MemoryLayout<DecodeHello>.size, -1) == 0 else { return EX_IOERR }
    guard hello.isProtected == 1 || settings.isUnsafe else { return EX_UNAVAILABLE }
    var session = RenderSession()
    while let (request, descriptor) = receive() {
      // A failure to allocate memory for an earlier image is no reason for the end of this one.
      errno = 0
      var reply = session.reply(to: request, descriptor)
      reply.number = request.number
      close(descriptor)
      guard decode_send(Int32(DecodeSocket), &reply, MemoryLayout<DecodeReply>.size, -1) == 0 else { break }
    }
    return EXIT_SUCCESS
  }

  /// Makes the libraries load what they will need, which the sandbox would refuse.
  private static func prepare() {
    // A BMP file of one pixel.
    let pixel: [UInt8] = [
      0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0, 0, 0, 0, 0,
      4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 0,
    ]
    let specs = OutputFormat.inProcess.compactMap { ThumbnailSpec.Format(rawValue: $0.rawValue) }.map {
      ThumbnailSpec(width: 1, format: $0)
    }
    _ = try? Renderer().render(pixel, specs: specs)
  }

  /// Returns the next request and its memory file; nil if the other process is gone.
  private static func receive() -> (DecodeRequest, Int32)? {
    var (request, descriptor) = (DecodeRequest(), Int32(-1))
    let size = MemoryLayout<DecodeRequest>.size
    guard decode_receive(Int32(DecodeSocket), &request, size, -1, &descriptor) == 0, descriptor >= 0 else { return nil }
    return (request, descriptor)
  }
}

/// A memory file of another process, mapped into this one.
private struct MappedFile: ~Copyable {
  private let bytes: UnsafeMutableRawBufferPointer

  /// The size of the file.
  var count: Int { bytes.count }

  /// Maps a whole file. Returns nil for an empty file, or if there is no memory.
  init?(_ descriptor: Int32, _ protection: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    let count = Int(status.st_size)
    guard let start = mmap(nil, count, protection, MAP_SHARED, descriptor, 0), start != MAP_FAILED else { return nil }
    bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  /// Returns a copy of bytes, which must be within the file: the other process could change them while they are read.
  func copied(_ range: Range<Int>) -> [UInt8] { Array(UnsafeRawBufferPointer(rebasing: bytes[range])) }

  deinit { munmap(bytes.baseAddress, bytes.count) }

  /// Writes parts one after the other, from the start. Returns false if they do not fit.
  func write(_ parts: [[UInt8]]) -> Bool {
    guard parts.reduce(0, { $0 + $1.count }) <= bytes.count else { return false }
    var offset = 0
    for part in parts {
      UnsafeMutableRawBufferPointer(rebasing: bytes.dropFirst(offset)).copyBytes(from: part)
      offset += part.count
    }
    return true
  }
}
