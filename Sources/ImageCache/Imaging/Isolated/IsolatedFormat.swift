import CDecodeChannel

/// A format that only `thumbs-decode` can decode.
struct IsolatedFormat: Sendable {
  let format: SourceFormat
  /// The number in messages.
  let id: DecodeFormatID
  /// The name for people.
  let name: String
  /// The library.
  let library: String
  /// The package of Debian and Ubuntu with which the library is built in.
  let package: String
  let signatures: [FileSignature]

  /// All of them. The media types in the `Accept` field have the same order.
  static let all = [
    .avif,
    IsolatedFormat(
      format: .jpegXL, id: DecodeFormatJPEGXL, name: "JPEG XL", library: "libjxl", package: "libjxl-dev",
      signatures: [FileSignature([0xFF, 0x0A]), FileSignature([0, 0, 0, 0x0C] + FileSignature.ascii("JXL "))]),
    .heic,
    IsolatedFormat(
      format: .tiff, id: DecodeFormatTIFF, name: "TIFF", library: "libtiff", package: "libtiff-dev",
      signatures: [
        FileSignature(FileSignature.ascii("II*") + [0]), FileSignature(FileSignature.ascii("MM") + [0, 0x2A]),
        FileSignature(FileSignature.ascii("II+") + [0]), FileSignature(FileSignature.ascii("MM") + [0, 0x2B]),
      ]),
    .svg,
  ]

  // Recognized by their brands.
  static let avif = IsolatedFormat(
    format: .avif, id: DecodeFormatAVIF, name: "AVIF", library: "libavif", package: "libavif-dev", signatures: [])
  static let heic = IsolatedFormat(
    format: .heic, id: DecodeFormatHEIC, name: "HEIC", library: "libheif", package: "libheif-dev", signatures: [])

  static let svg = IsolatedFormat(
    format: .svg, id: DecodeFormatSVG, name: "SVG", library: "librsvg", package: "librsvg2-dev",
    // Compressed. Plain files are recognized by their root element.
    signatures: [FileSignature([0x1F, 0x8B, 0x08])])

  /// Returns the format whose signature a file has; nil for other files.
  static func of(_ prefix: Span<UInt8>) -> IsolatedFormat? {
    for format in all {
      for signature in format.signatures where signature.matches(prefix) { return format }
    }
    return nil
  }
}
