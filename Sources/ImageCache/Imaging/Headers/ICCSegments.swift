/// The parts of an ICC profile in the APP2 segments of a JPEG file (ICC.1:2010, annex B.4).
struct ICCSegments: Sendable {
  /// The most bytes a profile may have. Large printing profiles have about 3 million.
  static let maxBytes = 4 << 20

  private var parts: [Int: Range<Int>] = [:]
  private var declaredCount = 0

  var isEmpty: Bool { parts.isEmpty }

  /// Notes one part: its number from 1, how many there are, and where its bytes stand in the file.
  mutating func add(_ number: Int, of count: Int, at range: Range<Int>) {
    parts[number] = range
    declaredCount = count
  }

  /// The whole profile out of the file it was found in; nil when parts are missing or it is too large.
  func assembled(from file: [UInt8]) -> [UInt8]? {
    guard declaredCount > 0, parts.count == declaredCount else { return nil }
    var profile: [UInt8] = []
    for number in 1...declaredCount {
      guard let range = parts[number], profile.count + range.count <= Self.maxBytes else { return nil }
      profile += file[range]
    }
    return profile
  }
}
