/// The parts of an ICC profile in the APP2 segments of a JPEG file (ICC.1:2010, annex B.4).
struct JPEGProfile: Sendable {
  private var parts: [Int: Range<Int>] = [:]
  private var declaredCount = 0

  var isEmpty: Bool { parts.isEmpty }

  /// Records one part: its number, which starts at 1, the declared number of parts, and its byte range in the file.
  mutating func add(_ number: Int, of count: Int, at range: Range<Int>) {
    parts[number] = range
    declaredCount = count
  }

  /// Returns the whole profile, read from the file it was found in; nil if parts are missing or it is too large.
  func assembled(from file: Span<UInt8>) -> [UInt8]? {
    guard declaredCount > 0, parts.count == declaredCount else { return nil }
    var profile: [UInt8] = []
    for number in 1...declaredCount {
      guard let range = parts[number], profile.count + range.count <= DecodingLimits.maxProfileBytes else { return nil }
      file.extracting(range).withUnsafeBufferPointer { profile += $0 }
    }
    return profile
  }
}
