/// Ascending indexes of rows, as ranges.
struct IndexRanges: Hashable, Sendable {
  /// The ranges, in ascending order. No two of them touch each other.
  private(set) var ranges: [ClosedRange<Int>] = []
  /// The number of indexes.
  private(set) var count = 0

  /// Adds `indexes`, which are greater than all others.
  mutating func append(_ indexes: Range<Int>) {
    guard let last = indexes.last else { return }
    count += indexes.count
    if let previous = ranges.last, previous.upperBound + 1 == indexes.lowerBound {
      ranges[ranges.count - 1] = previous.lowerBound...last
    } else {
      ranges.append(indexes.lowerBound...last)
    }
  }

  /// Returns `3, 9-12`, or `3, 9-12 and 7 others` if there are more than `limit` ranges.
  func text(limit: Int) -> String {
    let shown = ranges.prefix(limit)
    let list = shown.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    let others = count - shown.reduce(0) { $0 + $1.count }
    return list.joined(separator: ", ") + (others > 0 ? " and \(others) others" : "")
  }
}

extension JSONText {
  /// Writes a member with an array of pairs: the first and the last index of each range.
  mutating func member(_ key: StaticString, _ ranges: [ClosedRange<Int>]) {
    self.key(key)
    array { text in
      for range in ranges {
        text.array { text in
          text.value(range.lowerBound)
          text.value(range.upperBound)
        }
      }
    }
  }
}
