import CDecodeChannel
import CImage

/// Decodes a file of a format that is not trusted, in a process of `thumbs-decode`.
struct IsolatedDecoder: ImageDecoder {
  let image: IsolatedImage
  private(set) var header: ImageHeader
  /// The number of times that the process halves the size of the image while it decodes it.
  private var halvings = 0

  /// Opens a whole file. Blocks until the process has read the header.
  init(
    _ file: Span<UInt8>, _ format: IsolatedFormat, page: Int, limits: DecodingLimits, pool: DecoderPool
  ) throws(ImageError) {
    image = try IsolatedImage(file, format, page: page, limits: limits, pool: pool)
    let declared = image.header
    header = ImageHeader(
      format: format.format, storedSize: declared.size, layout: declared.layout, orientation: declared.orientation,
      warnings: declared.warnings)
  }

  /// JPEG for photographs, PNG for images with alpha and for drawings.
  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder {
    header.layout.hasAlpha ? PNGEncoder(spec) : JPEGEncoder(spec)
  }

  /// Draws a vector image so large that no thumbnail enlarges it.
  mutating func fill(_ specs: [ThumbnailSpec], within parts: [Int: TrimmedPart], maxPixels: Int) {
    guard image.header.isVector else { return }
    let size = VectorSize(declared: image.header.size, parts: parts, maxPixels: maxPixels)
    header.storedSize = size.size(for: specs)
  }

  /// Halves the image as often as it can, if at least twice the resolution of every thumbnail remains. For a format
  /// that stores several resolutions, that saves most of the time.
  mutating func adapt(to demand: DecodingDemand) {
    let reduction = demand.targets.map(\.reduction).min() ?? 1
    while halvings < image.header.halvings, reduction >= Double(4 << halvings) { halvings += 1 }
  }

  var decodedSize: PixelSize { header.storedSize.divided(by: 1 << halvings, .up) }

  /// The pixels. The memory of the process has its own limit.
  var peakBytes: Int { decodedSize.area * header.layout.channels }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    try decode(IsolatedFrame(), of: image, colors, into: sink, warnings: &warnings)
  }

  /// Decodes a frame of the image, which has the same header.
  func decode(
    _ frame: IsolatedFrame, of image: IsolatedImage, _ colors: ColorTransformCache, into sink: some RowSink,
    warnings: inout [String]
  ) throws(ImageError) {
    var oddities: [String] = []
    defer { warnings += oddities }
    let plane = PlaneShape(size: decodedSize, area: decodedArea)
    var lines: [String] = []
    try image.decode(
      frame, at: decodedSize, halvings: halvings, warnings: &lines
    ) { profile, rows throws(ImageError) in
      let transform = try transform(profile, colors, warnings: &oddities)
      try sink.begin(DecodedShape(layout: header.layout, planes: [plane], colors: transform))
      try rows.copy(into: sink)
    }
    oddities += lines
  }

  /// The area that the decoded pixels show. A pixel of a halved image is an average around the first one of its stored
  /// pixels, because the filters of wavelets are symmetric.
  private var decodedArea: PixelBox {
    let (step, size) = (Double(1 << halvings), decodedSize)
    let start = 0.5 - step / 2
    return PixelBox(
      left: start, top: start, right: start + Double(size.width) * step, bottom: start + Double(size.height) * step)
  }

  private func transform(
    _ profile: [UInt8], _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    let model = CImageColorModel(header.layout)
    if !profile.isEmpty { return try colors.transform(of: .profile(profile), model: model, warnings: &warnings) }
    guard let encoding = image.header.encoding else { return nil }
    return try colors.transform(of: .encoding(encoding), model: model, warnings: &warnings)
  }
}

/// A format that only `thumbs-decode` or `thumbs-decode-pdf` can decode.
struct IsolatedFormat: Sendable {
  let format: SourceFormat
  /// The number in messages.
  let id: DecodeFormatID
  /// The name for people.
  let name: String
  /// The library, or what decodes without one.
  let library: String
  /// The package of Debian and Ubuntu with which the library is built in; nil if there is no library.
  let package: String?
  let signatures: [FileSignature]
  /// The program that decodes the format.
  var program = DecoderKind.images

  /// All of them. None is in the `Accept` field; see ``SourceFormat/accept``.
  static let all = [
    .avif,
    IsolatedFormat(
      format: .jpeg2000, id: DecodeFormatJPEG2000, name: "JPEG 2000", library: "libopenjp2",
      package: "libopenjp2-7-dev",
      signatures: [
        FileSignature([0, 0, 0, 0x0C] + FileSignature.ascii("jP  ")), FileSignature([0xFF, 0x4F, 0xFF, 0x51]),
      ]),
    IsolatedFormat(
      format: .jpegXL, id: DecodeFormatJPEGXL, name: "JPEG XL", library: "libjxl", package: "libjxl-dev",
      signatures: [FileSignature([0xFF, 0x0A]), FileSignature([0, 0, 0, 0x0C] + FileSignature.ascii("JXL "))]),
    .heic, .raw,
    IsolatedFormat(
      format: .tiff, id: DecodeFormatTIFF, name: "TIFF", library: "libtiff", package: "libtiff-dev",
      signatures: [
        FileSignature(FileSignature.ascii("II*") + [0]), FileSignature(FileSignature.ascii("MM") + [0, 0x2A]),
        FileSignature(FileSignature.ascii("II+") + [0]), FileSignature(FileSignature.ascii("MM") + [0, 0x2B]),
      ]),
    IsolatedFormat(
      format: .psd, id: DecodeFormatPSD, name: "PSD", library: "its own decoder", package: nil,
      signatures: [1, 2].map { FileSignature(FileSignature.ascii("8BPS") + [0, $0]) }),
    .svg, .pdf,
  ]

  static let pdf = IsolatedFormat(
    format: .pdf, id: DecodeFormatPDF, name: "PDF", library: "poppler", package: "libpoppler-glib-dev",
    signatures: [FileSignature(FileSignature.ascii("%PDF-"))], program: .documents)

  // Recognized by their brands.
  static let avif = IsolatedFormat(
    format: .avif, id: DecodeFormatAVIF, name: "AVIF", library: "libavif", package: "libavif-dev", signatures: [])
  static let heic = IsolatedFormat(
    format: .heic, id: DecodeFormatHEIC, name: "HEIC", library: "libheif", package: "libheif-dev", signatures: [])

  /// Recognized by a signature. Other files look like TIFF, and are recognized by their directories.
  static let raw = IsolatedFormat(
    format: .raw, id: DecodeFormatRaw, name: "Camera raw", library: "LibRaw", package: "libraw-dev",
    signatures: [
      // Of CR2, CR3, RAF, ORF and RW2.
      FileSignature(FileSignature.ascii("II*") + [0, 0x10, 0, 0, 0] + FileSignature.ascii("CR") + [2]),
      FileSignature(FileSignature.any(4) + FileSignature.ascii("ftypcrx ")),
      FileSignature(FileSignature.ascii("FUJIFILMCCD-RAW")), FileSignature(FileSignature.ascii("IIRO")),
      FileSignature(FileSignature.ascii("IIRS")), FileSignature(FileSignature.ascii("MMOR")),
      FileSignature(FileSignature.ascii("IIU") + [0]),
    ])

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

extension SourceFormat {
  /// PDF (ISO 32000), of which `thumbs-decode-pdf` draws a page at the size of the thumbnails.
  public static let pdf = SourceFormat(rawValue: "pdf", mediaType: "application/pdf")
  /// HEIF with HEVC, decoded by `thumbs-decode`.
  public static let heic = SourceFormat(rawValue: "heic", mediaType: "image/heic")
  /// JPEG 2000 (ISO/IEC 15444-1), as a file or a codestream, decoded by `thumbs-decode`.
  public static let jpeg2000 = SourceFormat(rawValue: "jp2", mediaType: "image/jp2")
  /// JPEG XL (ISO/IEC 18181), decoded by `thumbs-decode`.
  public static let jpegXL = SourceFormat(rawValue: "jxl", mediaType: "image/jxl")
  /// PSD and PSB (Photoshop), whose merged image `thumbs-decode` decodes.
  public static let psd = SourceFormat(rawValue: "psd", mediaType: "image/vnd.adobe.photoshop")
  /// Camera raw files, such as CR2, DNG, NEF and ARW, whose preview `thumbs-decode` decodes.
  public static let raw = SourceFormat(rawValue: "raw", mediaType: "image/x-dcraw")
  /// SVG, also compressed, drawn by `thumbs-decode` at the size of the thumbnails.
  public static let svg = SourceFormat(rawValue: "svg", mediaType: "image/svg+xml")
  /// TIFF 6.0 and BigTIFF, decoded by `thumbs-decode`.
  public static let tiff = SourceFormat(rawValue: "tiff", mediaType: "image/tiff")
}

/// The size at which an image is drawn that can have any.
private struct VectorSize {
  /// The size that the image declares. Only its proportions count.
  let declared: PixelSize
  /// The parts that are left without a border.
  let parts: [Int: TrimmedPart]
  /// The maximum number of pixels.
  let maxPixels: Int

  /// The maximum length of a side, which cairo has.
  private static let longestSide = 32767.0

  /// Returns the smallest size with the proportions of the image that is large enough for all thumbnails.
  func size(for specs: [ThumbnailSpec]) -> PixelSize {
    let scale = specs.map(scale).max() ?? 1
    let (width, height) = (Double(declared.width) * scale, Double(declared.height) * scale)
    let reduction = max(
      1, (width * height / Double(maxPixels)).squareRoot(), max(width, height) / Self.longestSide)
    return PixelSize(width: Self.pixels(width / reduction), height: Self.pixels(height / reduction))
  }

  /// The factor by which the image fills the box of a thumbnail: it touches it if it must fit inside, and otherwise
  /// covers it. A hash must not enlarge a narrow image for the other thumbnails.
  private func scale(for spec: ThumbnailSpec) -> Double {
    let box = spec.pixelBox
    let part = spec.trim.flatMap { parts[$0] }?.pixels(in: declared).size ?? declared
    let factors = [Double(box.width) / Double(part.width), Double(box.height) / Double(part.height)]
    if spec.format == .perceptualHash { return factors.min() ?? 1 }
    switch spec.fit {
    case .inside, .pad: return factors.min() ?? 1
    case .cover, .stretch, .outside: return factors.max() ?? 1
    }
  }

  private static func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}
