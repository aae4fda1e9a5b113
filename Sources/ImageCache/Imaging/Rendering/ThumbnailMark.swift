internal import CDeflate
internal import CXXHash

/// A comment in every thumbnail that distinguishes it from other files: `thumbs` and a checksum of the rest of the
/// file.
///
/// A program that replaces old thumbnails checks for it first, so that it never replaces any other file. An edited
/// thumbnail no longer matches its checksum and counts as another file.
public enum ThumbnailMark {
  /// The length of the comment in bytes: the word, a space and 16 hexadecimal digits.
  private static let textLength = 23

  /// Returns true if `file` is a thumbnail exactly as a ``Renderer`` made it.
  public static func isPresent(in file: [UInt8]) -> Bool {
    [ImageFormat.jpeg, .png].contains { format in
      let start = place(in: format)
      let end = start + segment("", format).count + textLength
      guard file.count >= end else { return false }
      return file[start..<end] == segment(text(of: file[..<start], file[end...]), format)[...]
    }
  }

  /// The number of bytes that ``mayBePresent(inFileStartingWith:)`` needs.
  public static let prefixLength = 96

  /// Returns true if a file that begins with `prefix` may be a thumbnail. Only ``isPresent(in:)`` is certain.
  public static func mayBePresent(inFileStartingWith prefix: [UInt8]) -> Bool {
    [ImageFormat.jpeg, .png].contains { format in
      let start = place(in: format) + segment("", format).count - (format == .png ? 4 : 0)
      return prefix.dropFirst(start).starts(with: "thumbs ".utf8)
    }
  }

  /// Returns `file` with the comment added, or unchanged if it is too short to be a file of `format`.
  static func adding(to file: [UInt8], _ format: ImageFormat) -> [UInt8] {
    let start = place(in: format)
    guard file.count >= start else { return file }
    var marked = file
    marked.insert(contentsOf: segment(text(of: file[..<start], file[start...]), format), at: start)
    return marked
  }

  /// Returns the offset of the comment: after the JFIF header of a JPEG file, or after the header chunk of a PNG file.
  /// The encoders write these first, always with the same length.
  private static func place(in format: ImageFormat) -> Int {
    switch format {
    case .jpeg: 2 + 18
    case .png: 8 + 25
    }
  }

  private static func text(of head: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> String {
    let digits = String(hash(of: rest, seed: hash(of: head, seed: 0)), radix: 16)
    return "thumbs " + String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func hash(of bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { xxh3_64($0.baseAddress, $0.count, seed) }
  }

  /// Returns a JPEG comment segment (ITU-T T.81, B.2.4.5) or a PNG `Software` text chunk (PNG Specification, 11.3.3).
  private static func segment(_ text: String, _ format: ImageFormat) -> [UInt8] {
    switch format {
    case .jpeg: return [0xFF, 0xFE, 0, UInt8(2 + textLength)] + text.utf8
    case .png:
      let chunk = Array("tEXtSoftware\0".utf8) + text.utf8
      let checksum = chunk.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
      return bigEndian(UInt32(chunk.count - 4)) + chunk + bigEndian(checksum)
    }
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
