extension Range<Int> {
  /// Returns at most `count` positions at which a test cuts a file: a third of them at each end, next to each other,
  /// because headers and trailers have the most cases, and the others in between, at random but always the same.
  /// `THUMBS_CUT_POSITIONS` sets another count.
  public func cutPositions(count: Int = 150) -> [Int] {
    let count = environmentNumber("THUMBS_CUT_POSITIONS") ?? count
    guard self.count > count else { return Array(self) }
    var random = SeededGenerator(seed: UInt64(self.count))
    let middle = dropFirst(count / 3).dropLast(count / 3)
    let chosen = (0..<count / 3).map { _ in Int.random(in: middle.startIndex..<middle.endIndex, using: &random) }
    return Array(prefix(count / 3)) + Set(chosen).sorted() + Array(suffix(count / 3))
  }
}
