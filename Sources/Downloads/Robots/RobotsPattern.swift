/// The pattern of a rule: segments between wildcards, and possibly an anchor at the end (RFC 9309, section 2.2.3).
///
/// The first segment must be the beginning of a path, and each of the others is searched for after the one before. The
/// earliest occurrence leaves the most for the rest, so the search never goes back, however many wildcards there are.
struct RobotsPattern {
  /// The segments and the wildcards between them, as ``RobotsPath`` encodes them.
  let bytes: ArraySlice<UInt8>
  /// True if the pattern matches whole paths only.
  let isAnchored: Bool

  /// Returns true if the pattern matches `path`, the bytes of a ``RobotsPath``. Reads each byte at most twice.
  func matches(_ path: some RandomAccessCollection<UInt8>) -> Bool {
    var rest = bytes
    var segment = Self.takeSegment(&rest)
    guard path.starts(with: segment) else { return false }
    var tail = path.dropFirst(segment.count)
    guard rest.startIndex > segment.endIndex else { return !isAnchored || tail.isEmpty }
    while true {
      segment = Self.takeSegment(&rest)
      let isLast = rest.startIndex == segment.endIndex
      if isLast, isAnchored { return tail.suffix(segment.count).elementsEqual(segment) }
      guard let end = Self.end(of: segment, in: tail) else { return false }
      if isLast { return true }
      tail = tail[end...]
    }
  }

  /// Removes the first segment of `bytes` and the wildcard after it, if there is one.
  private static func takeSegment(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let segment = bytes.prefix { $0 != RobotsPath.wildcard }
    bytes = bytes[segment.endIndex...].dropFirst()
    return segment
  }

  /// Returns the end of the first occurrence of `segment`, found by the algorithm of Knuth, Morris and Pratt.
  private static func end<Path: RandomAccessCollection<UInt8>>(
    of segment: ArraySlice<UInt8>, in path: Path
  ) -> Path.Index? {
    guard !segment.isEmpty else { return path.startIndex }
    guard segment.count <= path.count else { return nil }
    let segment = Array(segment)
    let borders = borders(of: segment)
    var matched = 0
    for (index, byte) in zip(path.indices, path) {
      while matched > 0, segment[matched] != byte { matched = borders[matched - 1] }
      if segment[matched] == byte { matched += 1 }
      if matched == segment.count { return path.index(after: index) }
    }
    return nil
  }

  /// Returns for each beginning of `segment` the length of the longest shorter beginning that is also its end.
  private static func borders(of segment: [UInt8]) -> [Int] {
    var (borders, length) = ([Int](repeating: 0, count: segment.count), 0)
    for index in segment.indices.dropFirst() {
      while length > 0, segment[index] != segment[length] { length = borders[length - 1] }
      if segment[index] == segment[length] { length += 1 }
      borders[index] = length
    }
    return borders
  }
}
