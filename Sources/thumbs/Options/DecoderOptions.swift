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
      "Maximum time for an image in a separate process, in seconds. (default: 10)",
      discussion: "After it, the row fails as decode_limit.", valueName: "seconds"),
    transform: { try Count.seconds($0) })
  var decodeTimeout = Duration.seconds(10)

  @Flag(
    help: """
      Decode even if this system cannot keep the separate processes from files and the network. \
      For images that you trust; thumbs doctor shows the protections.
      """)
  var unsafeDecoders = false

  /// The settings of a pipeline.
  var isolation: DecoderIsolation {
    var isolation = DecoderIsolation()
    isolation.scope = isolate
    isolation.timeout = decodeTimeout
    isolation.allowsUnprotected = unsafeDecoders
    return isolation
  }
}
