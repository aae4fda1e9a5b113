internal import CXXHash

/// A comment in every thumbnail that distinguishes it from other files: `thumbs` and a checksum of the rest of the
/// file.
///
/// A program that replaces old thumbnails checks for it first, so that it never replaces any other file. An edited
/// thumbnail no longer matches its checksum and counts as another file.
public enum ThumbnailMark {
  /// The first characters of the comment. A checksum of 16 hexadecimal digits follows.
  private static let word = "thumbs "
  private static let digitCount = 16

  /// Returns true if `file` is a thumbnail exactly as a ``Renderer`` made it.
  public static func isPresent(in file: [UInt8]) -> Bool {
    CodecTable.files.contains { format in
      let count = count(in: format)
      let start = format.commentOffset(inFileOf: file.count - count)
      guard start >= 0, file.count >= start + count else { return false }
      let (comment, rest) = (file[start..<start + count], file[(start + count)...])
      return comment == format.comment(text(of: file[..<start], rest))[...]
    }
  }

  /// The number of bytes that ``mayBePresent(inFileStartingWith:endingWith:)`` needs of either end.
  public static let endLength = 96

  /// Returns true if a file that begins with `prefix` and ends with `suffix` may be a thumbnail. Only
  /// ``isPresent(in:)`` is certain.
  public static func mayBePresent(inFileStartingWith prefix: [UInt8], endingWith suffix: [UInt8]) -> Bool {
    CodecTable.files.contains { format in
      guard let wordEnd = sample(format).firstRange(of: word.utf8)?.upperBound else { return false }
      return format.mayHold(sample(format)[..<wordEnd], FileEnds(prefix: prefix, suffix: suffix))
    }
  }

  /// Returns a `file` of `format` with the comment added.
  static func adding(to file: [UInt8], by format: any MarkedFormat.Type) -> [UInt8] {
    let start = format.commentOffset(inFileOf: file.count)
    guard file.count >= start else { return file }
    var head = Array(file[..<start])
    format.lengthen(&head, by: sample(format).count)
    return head + format.comment(text(of: head[...], file[start...])) + file[start...]
  }

  /// Returns the length of the comment.
  static func count(in format: any MarkedFormat.Type) -> Int { sample(format).count }

  /// Returns a comment of the same length as all of them.
  private static func sample(_ format: any MarkedFormat.Type) -> [UInt8] {
    format.comment(word + String(repeating: "0", count: digitCount))
  }

  private static func text(of head: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> String {
    let digits = String(hash(of: rest, seed: hash(of: head, seed: 0)), radix: 16)
    return word + String(repeating: "0", count: digitCount - digits.count) + digits
  }

  private static func hash(of bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { xxh3_64($0.baseAddress, $0.count, seed) }
  }
}
