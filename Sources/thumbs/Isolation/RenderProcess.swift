import CDecodeChannel
import CDecoder
import Glibc
import ImageCache

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
