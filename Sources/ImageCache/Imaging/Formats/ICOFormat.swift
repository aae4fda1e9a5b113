import CImage

extension SourceFormat {
  /// ICO and CUR (icons and cursors of Windows).
  public static let ico = SourceFormat(rawValue: "ico", mediaType: "image/vnd.microsoft.icon")
}

extension ICODecoder {
  static let format = SourceFormat.ico

  /// Zero, the type of the file (1 for icons, 2 for cursors), 1 to 255 images, and a first image that is shorter than
  /// 16 MiB and begins in the first 16 MiB. The first four bytes alone would match other files.
  static let signatures = ([1, 2] as [UInt8]).map { type in
    FileSignature(
      [0, 0, type, 0, nil, 0] + FileSignature.any(8) + FileSignature.any(3) + [0] + FileSignature.any(3) + [0],
      nonzero: 4)
  }
}

/// Decodes one image of an icon or a cursor: the one that fits the thumbnails best, or the largest.
struct ICODecoder: FileDecoder {
  private let directory: ICODirectory
  private let limits: DecodingLimits
  /// The image to decode.
  private(set) var entry: ICOEntry

  /// The size is that of the largest image.
  let header: ImageHeader

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { PNGEncoder(spec) }

  var decodedSize: PixelSize { entry.size }

  /// A PNG file is decompressed as a whole; a bitmap takes a few rows.
  var peakBytes: Int {
    let rows = entry.isPNG ? entry.size.area.saturatingProduct(4) : 16 * entry.size.width * 4
    return rows + 64 * entry.size.width + (64 << 10)
  }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let directory = try ICODirectory(prefix, isWhole: false) else { return nil }
    try self.init(directory, limits: limits)
  }

  init?(whole file: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let directory = try ICODirectory(file, isWhole: true) else { return nil }
    try self.init(directory, limits: limits)
  }

  private init(_ directory: ICODirectory, limits: DecodingLimits) throws(ImageError) {
    try limits.check(directory.largest.size)
    (self.directory, self.limits, entry) = (directory, limits, directory.largest)
    header = ImageHeader(
      format: .ico, storedSize: directory.largest.size, layout: .rgba, warnings: directory.warnings)
  }

  mutating func adapt(to demand: DecodingDemand) { entry = directory.entry(for: demand) }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    if directory.end > file.count { warnings.append("the icon ends before its last image does") }
    let whole = WholeAreaSink(sink, size: header.storedSize)
    var rest = directory.others(than: entry)[...]
    var current = entry
    // A damaged image of the icon is replaced by another one, as long as none of its rows is used.
    while true {
      do throws(ImageError) {
        return try decode(current, of: file, colors: colors, into: whole, warnings: &warnings)
      } catch {
        // A cut image may be whole after another transfer.
        let isLasting = ![.truncated, .outOfMemory].contains(error.code)
        guard isLasting, !whole.hasBegun, let next = rest.popFirst() else { throw error }
        warnings.append("ignored an image of the icon: \(error.message)")
        current = next
      }
    }
  }

  private func decode(
    _ entry: ICOEntry, of file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink,
    warnings: inout [String]
  ) throws(ImageError) {
    // The length in the directory may be too short.
    let bytes = file.extracting(min(entry.range.lowerBound, file.count)...)
    if entry.isPNG {
      guard let png = try PNGDecoder(prefix: bytes, limits: limits) else {
        throw ImageError(.truncated, "The icon ends before its image data does.")
      }
      try png.decode(bytes, colors: colors, into: sink, warnings: &warnings)
    } else {
      try decodeBitmap(bytes, into: sink, warnings: &warnings)
    }
  }

  private func decodeBitmap(
    _ bytes: Span<UInt8>, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    guard var bitmap = try DIBHeaderReader.read(bytes, at: 0, pixelStart: nil) else { throw DIBHeader.truncated }
    bitmap.size.height /= 2
    try limits.check(bitmap.size)
    guard !bitmap.isRunLength else {
      throw ImageError(.unsupportedFormat, "An icon with run-length encoding is not supported.")
    }
    // The fourth byte of a pixel is alpha in icons, unlike in other bitmaps.
    if bitmap.bitCount == 32 && bitmap.masks == .standard(bitCount: 32) { bitmap.masks.alpha = 0xFF00_0000 }
    if bitmap.bitCount < 32, DIBTransparency(bitmap).end > bytes.count {
      warnings.append("the icon has no complete mask; its pixels are opaque where the mask is missing")
    }
    let decoder = DIBDecoder(bitmap, layout: .rgba, hasMask: true)
    try decoder.decode(bytes, area: PixelBox(size: header.storedSize), into: sink)
  }
}

/// The images in an icon or a cursor.
private struct ICODirectory: Sendable {
  /// The images with a readable header, in the order of the file.
  private(set) var entries: [ICOEntry] = []
  /// The end of the last one of these images.
  var end: Int { entries.map(\.range.upperBound).max() ?? 0 }
  /// Harmless oddities.
  private(set) var warnings: [String] = []
  /// The largest image, of those the one with the most bits.
  let largest: ICOEntry

  /// Reads the directory and the header of each image. Returns nil if more bytes are needed. Throws `decodeError` if no
  /// image has a readable header.
  init?(_ file: Span<UInt8>, isWhole: Bool) throws(ImageError) {
    guard let count = file.uint16(at: 4, .little), 6 + 16 * count <= file.count else { return nil }
    for index in 0..<count {
      guard let range = Self.range(file, at: 6 + 16 * index) else { return nil }
      guard range.lowerBound >= 6 + 16 * count else {
        warnings.append("ignored image \(index + 1) of the icon, which overlaps the directory")
        continue
      }
      do throws(ImageError) {
        if let entry = try ICOEntry(file, at: range) {
          entries.append(entry)
        } else if isWhole {
          warnings.append("ignored image \(index + 1) of the icon, which is not in the file")
        } else {
          return nil
        }
      } catch {
        warnings.append("ignored image \(index + 1) of the icon, whose header is invalid")
      }
    }
    if entries.isEmpty, isWhole, warnings.allSatisfy({ $0.hasSuffix("not in the file") }) { return nil }
    guard let largest = entries.max(by: { $0.isLess(than: $1) }) else {
      throw ImageError(.decodeError, "No image of the icon has a valid header.")
    }
    self.largest = largest
  }

  /// Returns the location of the image that the entry at `offset` describes.
  private static func range(_ file: Span<UInt8>, at offset: Int) -> Range<Int>? {
    guard let length = file.uint32(at: offset + 8, .little), let start = file.uint32(at: offset + 12, .little) else {
      return nil
    }
    return start..<start + length
  }

  /// Returns the images besides `entry`, the largest first. Those of its shape come before others.
  func others(than entry: ICOEntry) -> [ICOEntry] {
    let others = entries.filter { $0 != entry }.sorted { $1.isLess(than: $0) }
    return others.filter { $0.hasShape(of: entry) } + others.filter { !$0.hasShape(of: entry) }
  }

  /// Returns the image to make thumbnails from: the smallest that has all pixels they need, of those the one with the
  /// most bits. Images of another shape than the largest do not count.
  func entry(for demand: DecodingDemand) -> ICOEntry {
    let reduction = demand.targets.map(\.reduction).min() ?? 1
    let fitting = entries.filter { entry in
      // Reductions are quotients, so that half a pixel may be lost to rounding.
      entry.hasShape(of: largest) && Double(entry.size.width) * reduction > Double(largest.size.width) - 0.5
    }
    guard let area = fitting.map(\.size.area).min() else { return largest }
    return fitting.filter { $0.size.area == area }.max { $0.isLess(than: $1) } ?? largest
  }
}

/// An image in an icon, as its own header describes it. The description in the icon's directory is often wrong.
struct ICOEntry: Hashable, Sendable {
  /// The location of the image in the file.
  let range: Range<Int>
  let size: PixelSize
  /// The number of bits per pixel.
  let bitCount: Int
  /// True if the image is a PNG file; otherwise it is a bitmap with a mask.
  let isPNG: Bool

  /// Reads the header of the image at `range`. Returns nil if `file` ends before that.
  init?(_ file: Span<UInt8>, at range: Range<Int>) throws(ImageError) {
    self.range = range
    guard let first = file.uint32(at: range.lowerBound) else { return nil }
    isPNG = first == 0x8950_4E47
    if isPNG {
      guard let described = Self.describePNG(file, at: range.lowerBound) else { return nil }
      (size, bitCount) = described
    } else {
      guard let fields = try DIBFields(file, at: range.lowerBound) else { return nil }
      // The height includes the mask.
      size = PixelSize(width: fields.width, height: abs(fields.height) / 2)
      bitCount = fields.bitCount
    }
    guard size.width > 0, size.height > 0 else {
      throw ImageError(.decodeError, "An image of the icon is empty (\(size)).")
    }
  }

  /// Returns the size and the number of bits per pixel of a PNG file.
  private static func describePNG(_ file: Span<UInt8>, at start: Int) -> (PixelSize, Int)? {
    guard start + 26 <= file.count, let width = file.uint32(at: start + 16), let height = file.uint32(at: start + 20)
    else { return nil }
    let channels =
      switch file[start + 25] {
      case 2: 3
      case 4: 2
      case 6: 4
      default: 1
      }
    return (PixelSize(width: width, height: height), Int(file[start + 24]) * channels)
  }

  /// Returns true if the image is smaller than `other`, or of the same size with fewer bits.
  fileprivate func isLess(than other: ICOEntry) -> Bool { (size.area, bitCount) < (other.size.area, other.bitCount) }

  /// Returns true if both images have the same aspect ratio, give or take rounding.
  fileprivate func hasShape(of other: ICOEntry) -> Bool {
    let difference = size.width.saturatingProduct(other.size.height) - size.height.saturatingProduct(other.size.width)
    return abs(difference) <= max(other.size.width, other.size.height)
  }
}

/// Passes on the rows of one image of a file as those of another, larger one.
private final class WholeAreaSink: RowSink {
  private let sink: any RowSink
  private let area: PixelBox
  /// True once the sink has got the shape of an image.
  private(set) var hasBegun = false

  /// Creates a sink for an image that shows the same as the one of `size`.
  init(_ sink: any RowSink, size: PixelSize) { (self.sink, area) = (sink, PixelBox(size: size)) }

  func begin(_ shape: DecodedShape) throws(ImageError) {
    var shape = shape
    shape.planes = shape.planes.map { PlaneShape(size: $0.size, area: area) }
    hasBegun = true
    try sink.begin(shape)
  }

  func needed(ofPlane index: Int) -> CImageArea { sink.needed(ofPlane: index) }

  func skip(_ counts: [Int]) { sink.skip(counts) }

  func take(_ rows: [CImageBitmap]) throws(ImageError) { try sink.take(rows) }
}
