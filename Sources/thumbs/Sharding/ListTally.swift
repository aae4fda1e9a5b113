/// The number of rows of a list, and their digest.
struct ListTally: Hashable, Sendable {
  private(set) var rows = 0
  private(set) var digest = ListDigest()

  /// Adds the next row.
  mutating func add(_ entry: ManifestEntry) {
    rows += 1
    digest.add(entry)
  }
}
