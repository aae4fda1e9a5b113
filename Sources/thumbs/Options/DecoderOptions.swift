import ArgumentParser
import ImageCache

/// The options of decoders in separate processes.
struct DecoderOptions: ParsableArguments {
  @Option(
    help: """
      Formats to decode in separate processes without access to files and the network: those that are not trusted \
      (AVIF, HEIC, JPEG XL, SVG and TIFF), or all.
      """)
  var isolate = DecoderIsolation.Scope.untrusted

  @Option(
    help: ArgumentHelp(
      "Maximum time to decode an image in a separate process, in seconds, and to encode AVIF. (default: 10)",
      discussion: "After it, the row fails as decode_limit.", valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var decodeTimeout = Duration.seconds(10)

  @Flag(
    help: """
      Decode even if this system cannot keep the separate processes from files and the network. \
      For images that you trust; thumbs doctor shows the protections.
      """)
  var unsafeDecoders = false

  /// Starts the encoder once if `pixels` need it, which takes 40 ms. Throws if all thumbnails would fail without it,
  /// before anything is downloaded.
  func checkEncoder(for pixels: PixelOptions) throws {
    guard pixels.format == .avif else { return }
    if let fault = DecoderCondition(measuring: isolation).encodingFault(isolation) {
      throw ValidationError("AVIF output needs the program thumbs-decode, but \(fault).")
    }
  }

  /// The settings of a pipeline.
  var isolation: DecoderIsolation {
    var isolation = DecoderIsolation()
    isolation.scope = isolate
    isolation.timeout = decodeTimeout
    isolation.allowsUnprotected = unsafeDecoders
    return isolation
  }
}
