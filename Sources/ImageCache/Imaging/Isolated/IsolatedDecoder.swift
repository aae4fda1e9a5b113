import CDecodeChannel
import CImage
import Synchronization

/// Decodes a file of a format that is not trusted, in a process of `thumbs-decode`.
struct IsolatedDecoder: ImageDecoder {
  private let image: IsolatedImage
  private let format: IsolatedFormat
  private(set) var header: ImageHeader
  /// The number of times that the process halves the size of the image while it decodes it.
  private var halvings = 0

  /// Opens a whole file. Blocks until the process has read the header.
  init(
    _ file: Span<UInt8>, _ format: IsolatedFormat, limits: DecodingLimits, pool: DecoderPool
  ) throws(ImageError) {
    image = try IsolatedImage(file, format, limits: limits, pool: pool)
    self.format = format
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
    var oddities: [String] = []
    defer { warnings += oddities }
    let plane = PlaneShape(size: decodedSize, area: decodedArea)
    var lines: [String] = []
    try image.decode(at: decodedSize, halvings: halvings, warnings: &lines) { profile, rows throws(ImageError) in
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

/// A format that only `thumbs-decode` can decode.
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
    .svg,
  ]

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

/// An image that is open in a process of `thumbs-decode`.
///
/// The process goes back to its pool after the pixels were used, not before: they are in memory that the next image
/// overwrites. It ends if it fails, or if the image is released before it is decoded.
private final class IsolatedImage: Sendable {
  /// The checked header.
  let header: IsolatedHeader
  private let format: IsolatedFormat
  private let pool: DecoderPool
  /// The time that is left for decoding.
  private let rest: Duration
  /// Nil once the image is decoded.
  private let process: Mutex<DecoderProcess?>

  /// Opens the image in `file`.
  init(
    _ file: Span<UInt8>, _ format: IsolatedFormat, limits: DecodingLimits, pool: DecoderPool
  ) throws(ImageError) {
    (self.pool, self.format) = (pool, format)
    var process = try Self.take(from: pool, for: format)
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.holding(file) }
    var request = DecodeRequest(step: DecodeStepOpen)
    request.format = format.id.rawValue
    request.byteCount = UInt64(file.count)
    request.maxPixels = UInt64(limits.maxPixels)
    request.longestSide = UInt32(DecodingLimits.longestSide)
    // The clock stops between the two steps, while this thread waits until there is memory for the pixels.
    let begin = ContinuousClock.now
    let deadline = begin + pool.timeout
    header = try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      if let error = try reply.error() { return .failure(error) }
      return .success(try IsolatedHeader(reply))
    }
    rest = begin.duration(to: deadline) - begin.duration(to: .now)
    self.process = Mutex(process)
    // From here on, the process is released with this object.
    try limits.check(header.size)
  }

  deinit { process.withLock { $0.take() }.map(pool.end) }

  /// Decodes the image at `size`, which is that of a vector image or the stored one after so many halvings. Passes the
  /// pixels to `body`: the profile, and as many rows as the decoder could decode. Throws the failure of the decoder
  /// after that.
  func decode(
    at size: PixelSize, halvings: Int, warnings: inout [String],
    _ body: (_ profile: [UInt8], _ rows: IsolatedRows) throws(ImageError) -> Void
  ) throws(ImageError) {
    // Aligned for the processor.
    let offset = (header.profileCount + 63) & ~63
    let rowBytes = size.width * header.layout.channels
    guard var process = process.withLock({ $0.take() }) else {
      throw ImageError(.decodeError, "The image was decoded before.")
    }
    let count = offset + rowBytes * size.height
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.zeros(count) }
    let deadline = ContinuousClock.now + rest
    var request = DecodeRequest(step: DecodeStepDecode)
    (request.width, request.height) = (UInt32(size.width), UInt32(size.height))
    request.halvings = UInt32(halvings)
    request.pixelOffset = UInt64(offset)
    let (reply, error) = try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      let error = try reply.error()
      guard reply.rowCount <= size.height, error != nil || reply.rowCount == size.height else {
        throw .misbehavior("it sent another number of rows")
      }
      return .success((reply, error))
    }
    defer { if error == nil { pool.giveBack(process) } else { pool.end(process) } }
    warnings += reply.text.warningLines
    if reply.rowCount > 0 {
      let rows = IsolatedRows(
        memory: memory, offset: offset, width: size.width, channels: header.layout.channels, count: Int(reply.rowCount))
      try body(memory.copied(0..<header.profileCount), rows)
    }
    if let error { throw error }
  }

  /// Takes a process that can decode `format`.
  private static func take(from pool: DecoderPool, for format: IsolatedFormat) throws(ImageError) -> DecoderProcess {
    do throws(DecoderFailure) {
      let process = try pool.take()
      if process.hello.has(format) { return process }
      pool.giveBack(process)
    } catch {
      throw ImageError(error, for: format)
    }
    throw ImageError(without: format)
  }

  /// Returns memory of a process, which ends if there is not enough.
  private static func memory(
    of process: inout DecoderProcess, _ pool: DecoderPool,
    _ body: (inout DecoderMemory) throws(ImageError) -> SharedMemory
  ) throws(ImageError) -> SharedMemory {
    do throws(ImageError) {
      return try body(&process.memory)
    } catch {
      pool.end(process)
      throw error
    }
  }

  /// Exchanges messages with a process. It ends if it fails or refuses the image, which may have damaged it.
  private static func using<Value>(
    _ process: inout DecoderProcess, _ pool: DecoderPool, _ format: IsolatedFormat,
    _ body: (inout DecoderProcess) throws(DecoderFailure) -> Result<Value, ImageError>
  ) throws(ImageError) -> Value {
    let result: Result<Value, ImageError>
    do throws(DecoderFailure) {
      result = try body(&process)
    } catch {
      pool.end(process)
      throw ImageError(error, for: format)
    }
    if case .failure = result { pool.end(process) }
    return try result.get()
  }
}

/// The decoded rows in the memory of a process, which may change them at any time.
private struct IsolatedRows {
  fileprivate let memory: SharedMemory
  fileprivate let offset: Int
  fileprivate let width: Int
  fileprivate let channels: Int
  fileprivate let count: Int

  /// The size of the copies in bytes: they stay in the caches of the processor.
  private static let bandBytes = 256 << 10

  /// Passes copies of the rows to `sink`, a band at a time. Each sample is read once, so all thumbnails are made from
  /// the same pixels.
  func copy(into sink: some RowSink) throws(ImageError) {
    let stride = width * channels
    let height = min(max(1, Self.bandBytes / stride), count)
    let band = try CImageCall.allocate(height * stride)
    defer { CImageCall.free(band) }
    for first in Swift.stride(from: 0, to: count, by: height) {
      let rows = min(height, count - first)
      let start = offset + first * stride
      memory.copy(start..<start + rows * stride, to: band)
      try sink.take([
        CImageBitmap(
          pixels: band, width: Int32(width), height: Int32(rows), channels: Int32(channels), stride: stride)
      ])
    }
  }
}

/// The header that a process of `thumbs-decode` declares, after validation.
struct IsolatedHeader: Sendable {
  let size: PixelSize
  let layout: PixelLayout
  let orientation: Orientation
  /// The bytes of the ICC profile; 0 without a profile.
  let profileCount: Int
  /// The colors of an image without a profile; nil if it declares none.
  let encoding: ColorEncoding?
  /// True if the image can be drawn at any size.
  let isVector: Bool
  /// The number of times that the decoder can halve the size, at most 32.
  let halvings: Int
  /// Harmless oddities.
  let warnings: [String]

  /// Throws for numbers that no decoder sends. The size is checked by ``DecodingLimits``.
  init(_ reply: DecodeReply) throws(DecoderFailure) {
    let header = reply.header
    size = PixelSize(width: Int(header.width), height: Int(header.height))
    guard let layout = Self.layouts[header.channels], let orientation = Orientation(rawValue: Int(header.orientation)),
      header.profileCount <= DecodingLimits.maxProfileBytes, header.isVector <= 1, header.halvings <= 32
    else { throw .misbehavior("it sent numbers that make no sense") }
    (self.layout, self.orientation) = (layout, orientation)
    profileCount = Int(header.profileCount)
    encoding = ColorEncoding(primaries: header.primaries, transfer: header.transfer)
    (isVector, halvings) = (header.isVector == 1, Int(header.halvings))
    warnings = reply.text.warningLines
  }

  private static let layouts: [UInt32: PixelLayout] = [1: .gray, 2: .grayAlpha, 3: .rgb, 4: .rgba]
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

extension DecodeRequest {
  /// Creates a request without fields.
  init(step: DecodeStep) {
    self.init()
    self.step = step.rawValue
  }
}

extension DecodeReply {
  /// The error that the reply reports; nil for success. Throws for a status that does not exist.
  func error() throws(DecoderFailure) -> ImageError? {
    guard status != DecodeStatusOK.rawValue else { return nil }
    guard let code = Self.codes[status] else { throw .misbehavior("it sent a status that does not exist") }
    var error = ImageError(code, reason: text.errorLine)
    // The limit of the process, so that another attempt would reach it, too.
    if status == DecodeStatusOutOfMemory.rawValue { error.origin = .machine }
    return error
  }

  private static let codes: [UInt32: ImageError.Code] = [
    DecodeStatusTruncated.rawValue: .truncated, DecodeStatusCorrupt.rawValue: .decodeError,
    DecodeStatusUnsupported.rawValue: .unsupportedFormat, DecodeStatusTooManyPixels.rawValue: .tooManyPixels,
    DecodeStatusLimit.rawValue: .decodeLimit, DecodeStatusOutOfMemory.rawValue: .decodeLimit,
    DecodeStatusNotAnImage.rawValue: .notAnImage,
  ]
}

extension DecodeText {
  /// The error, without control characters: it comes from a library that has read hostile bytes.
  var errorLine: String { Self.clean(String.text(inArray: error)) }

  /// The warnings, each a line, without control characters.
  var warningLines: [String] { String.text(inArray: warnings).split(separator: "\n").map { Self.clean(String($0)) } }

  /// Replaces control characters, which could change what a terminal shows, by spaces.
  static func clean(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }
}
