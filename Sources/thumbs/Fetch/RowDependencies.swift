import BatchFetch

/// The unfinished rows, keyed by their names and URLs. Its size is bounded by the number of rows that the batch pulls
/// ahead, not by the manifest.
struct RowDependencies {
  private var milestones: [String: [Int: Milestone]] = [:]

  /// Returns the ends of the rows that `row` depends on: unfinished earlier rows with a matching name or URL.
  func ends(of row: ManifestRow) -> [Milestone] {
    row.options.depends.flatMap { key in (milestones[key] ?? [:]).values }
  }

  /// Adds `row`, which is unfinished until it reaches `end`.
  mutating func begin(_ row: ManifestRow, end: Milestone) {
    for key in row.keys { milestones[key, default: [:]][row.index] = end }
  }

  /// Removes `row`, which has finished.
  mutating func end(_ row: ManifestRow) {
    for key in row.keys {
      milestones[key]?[row.index] = nil
      if milestones[key]?.isEmpty == true { milestones[key] = nil }
    }
  }
}

extension ManifestRow {
  /// The names by which other rows may refer to this one.
  fileprivate var keys: [String] { name.map { [$0, url] } ?? [url] }
}
