/// A hash of what an image shows: 64 bits, of which few differ between an image and the same image in another size,
/// quality or format.
///
/// ```swift
/// let renderings = try [photo, copy].map { try Renderer().render($0, specs: [.perceptualHash]) }
/// let hashes = renderings.compactMap(\.thumbnails[0].perceptualHash).filter(\.isSignificant)
/// if hashes.count == 2, hashes[0].distance(to: hashes[1]) <= 6 { print("The copy shows the same.") }
/// ```
///
/// The bits say which low frequencies of the brightness are stronger than the median. `Documentation/formats.md`
/// describes the computation exactly; it never changes, so hashes can be stored and compared for ever.
public struct PerceptualHash: RawRepresentable, Hashable, Sendable {
  /// The bits; 0 for a uniform image. The highest bit of any other is 1.
  public let rawValue: UInt64

  /// Creates a hash from its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Returns the number of bits that differ, 0 to 64. Unrelated images differ in about 32 bits.
  public func distance(to other: PerceptualHash) -> Int { (rawValue ^ other.rawValue).nonzeroBitCount }

  /// False if the hash says too little about the image to compare it: if the image is of nearly one brightness, or
  /// changes in one direction only, such as a gradient. The hashes of such images have few bits of 1, and often the
  /// same; others have 32.
  public var isSignificant: Bool { rawValue.nonzeroBitCount >= 24 }
}

extension PerceptualHash: CustomStringConvertible {
  /// Sixteen lowercase hexadecimal digits, as in reports.
  public var description: String {
    let digits = String(rawValue, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// Creates a hash from sixteen hexadecimal digits; nil for any other text.
  public init?(_ text: String) {
    guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit), let value = UInt64(text, radix: 16) else { return nil }
    self.init(rawValue: value)
  }
}

extension Thumbnail {
  /// The perceptual hash of the image; nil unless the ``format`` is ``OutputFormat/perceptualHash``.
  public var perceptualHash: PerceptualHash? {
    format == .perceptualHash ? PerceptualHash(record: bytes) : nil
  }
}

extension OutputFormat {
  /// A ``PerceptualHash`` instead of a file; see ``Thumbnail/perceptualHash``. Not in ``all``, which lists the formats
  /// of files.
  public static let perceptualHash = OutputFormat(
    rawValue: "phash", mediaType: "application/octet-stream", fileExtension: "phash")
}

extension ThumbnailSpec {
  /// The ``PerceptualHash`` of an image, which is rendered, cached and shared like a thumbnail. No other spec may have
  /// its format.
  ///
  /// It has more pixels than the hash, so that the edges of the cells, which are means, are nearly exact in an image
  /// that was shrunk while it was decoded.
  public static let perceptualHash = ThumbnailSpec(width: 64, fit: .stretch, format: .perceptualHash, filter: .box)
}

extension ThumbnailSpec.Format {
  /// True if the output is about the source itself, whatever a ``PixelProcess`` does to thumbnails.
  var showsSource: Bool { self == .original || self == .perceptualHash }
}

// MARK: Record

extension PerceptualHash {
  private static let version: UInt8 = 1

  /// The hash as the bytes of a thumbnail: a version, and the bits from the highest to the lowest.
  var record: [UInt8] {
    [Self.version] + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: rawValue >> $0) }
  }

  /// Reads a ``record``; nil for any other bytes.
  init?(record: [UInt8]) {
    guard record.count == 9, record[0] == Self.version else { return nil }
    self.init(rawValue: record.dropFirst().reduce(0) { $0 << 8 | UInt64($1) })
  }
}

/// Describes the pixels of a thumbnail as a ``PerceptualHash`` in place of a file.
struct PerceptualHashEncoder: ThumbnailEncoder {
  /// Color does not count.
  let chromaStep = 2

  func peakBytes(forPixels count: Int) -> Int { 4 * count }

  /// Planes too, so that a hash never keeps the thumbnails of a JPEG file from being made of planes.
  func accepts(_ layout: PixelLayout) -> Bool { true }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    let hash = PerceptualHash(brightness: bitmap.brightness(), size: bitmap.size)
    return EncodedFile(format: .perceptualHash, bytes: hash.record)
  }
}

// MARK: Computation

// All of it is in integers, so that the result does not depend on the machine.

extension Bitmap {
  /// Returns the brightness of each pixel over white, row after row: 0 to 65280, which is 256 times 255.
  fileprivate borrowing func brightness() -> [Int32] {
    let plane = planes[0]
    return (0..<size.area).map { plane.brightness(at: $0 * layout.channels, layout) }
  }
}

extension Plane {
  /// The brightness of the pixel whose samples begin at `start`. The luma of planes is brightness already.
  @inline(__always)
  fileprivate func brightness(at start: Int, _ layout: PixelLayout) -> Int32 {
    if layout.channels == 1 { return 256 * Int32(samples[start]) }
    let alpha = layout.hasAlpha ? Int32(samples[start + layout.channels - 1]) : 255
    let overWhite = { (channel: Int) in
      (Int32(samples[start + channel]) * alpha + 255 * (255 - alpha) + 127) / 255
    }
    if layout.isGray { return 256 * overWhite(0) }
    return 77 * overWhite(0) + 150 * overWhite(1) + 29 * overWhite(2)
  }
}

extension PerceptualHash {
  /// The cells of the image in each direction.
  private static let cells = 32
  /// The frequencies in each direction, the first of which is the mean.
  private static let frequencies = 0..<8
  /// The range of the cells, from which an image is not uniform.
  private static let leastRange = 8

  /// Computes the hash of an image of at least one pixel. `brightness` is that of each pixel, 0 to 65280.
  init(brightness: [Int32], size: PixelSize) {
    let means = Self.means(brightness, size)
    let range = (means.max() ?? 0) - (means.min() ?? 0)
    self.init(rawValue: range < Self.leastRange ? 0 : Self.bits(of: Self.terms(of: means)))
  }

  /// Returns the mean brightness of each cell, rounded to 0...255. A pixel on an edge counts in part for either cell.
  private static func means(_ brightness: [Int32], _ size: PixelSize) -> [Int] {
    let (columns, rows) = (shares(of: size.width), shares(of: size.height))
    let whole = 256 * size.area
    var sums = [Int](repeating: 0, count: cells * cells)
    for y in 0..<size.height {
      var row = [Int](repeating: 0, count: cells)
      for x in 0..<size.width {
        let value = Int(brightness[y * size.width + x])
        for (cell, share) in columns[x] { row[cell] += share * value }
      }
      for (cell, share) in rows[y] { for x in 0..<cells { sums[cell * cells + x] += share * row[x] } }
    }
    return sums.map { (2 * $0 + whole) / (2 * whole) }
  }

  /// Returns the cells that each of `count` samples belongs to, with its share of them in units of the `cells`th part
  /// of a sample. The shares of a cell add up to `count`.
  private static func shares(of count: Int) -> [[(cell: Int, share: Int)]] {
    (0..<count).map { sample in
      let (start, end) = (sample * cells, (sample + 1) * cells)
      return (start / count...(end - 1) / count).map { cell in
        (cell, min(end, (cell + 1) * count) - max(start, cell * count))
      }
    }
  }

  /// Returns the terms of the cosine transform (DCT-II) for the frequencies, row after row.
  private static func terms(of means: [Int]) -> [Int] {
    var terms: [Int] = []
    terms.reserveCapacity(frequencies.count * frequencies.count)
    for down in frequencies {
      var column = [Int](repeating: 0, count: cells)
      for y in 0..<cells {
        let factor = cosine(y, down)
        for x in 0..<cells { column[x] += factor * means[y * cells + x] }
      }
      for across in frequencies {
        terms.append((0..<cells).reduce(0) { $0 + cosine($1, across) * column[$1] })
      }
    }
    return terms
  }

  /// Returns 16384 times the cosine of `frequency` half periods over all cells, at the middle of a cell.
  private static func cosine(_ cell: Int, _ frequency: Int) -> Int {
    let angle = (2 * cell + 1) * frequency % 128
    let half = angle <= 64 ? angle : 128 - angle
    return half <= 32 ? cosines[half] : -cosines[64 - half]
  }

  /// 16384 times the cosine of 0 to 32 times 1/128 of a turn, rounded.
  private static let cosines = [
    16384, 16364, 16305, 16207, 16069, 15893, 15679, 15426, 15137, 14811, 14449, 14053, 13623, 13160, 12665, 12140,
    11585, 11003, 10394, 9760, 9102, 8423, 7723, 7005, 6270, 5520, 4756, 3981, 3196, 2404, 1606, 804, 0,
  ]

  /// Returns a bit for each term, the first one in the highest bit: 1 if it is greater than the median.
  private static func bits(of terms: [Int]) -> UInt64 {
    let sorted = terms.sorted()
    let middles = sorted[terms.count / 2 - 1] + sorted[terms.count / 2]
    return terms.reduce(0) { $0 << 1 | (2 * $1 > middles ? 1 : 0) }
  }
}
