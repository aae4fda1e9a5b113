import BatchFetch

/// The unfinished rows, keyed by their names and URLs. Its size is bounded by the number of rows that the batch pulls
/// ahead, not by the manifest.
struct RowDependencies {
  private struct UnfinishedRow {
    let index: Int
    let end: Milestone
  }

  /// Nearly always one row per key.
  private var rows: [String: [UnfinishedRow]] = [:]

  /// Returns the ends of the rows that `row` depends on: unfinished earlier rows with a matching name or URL.
  func ends(of row: ManifestRow) -> [Milestone] {
    row.options.depends.flatMap { key in (rows[key] ?? []).map(\.end) }
  }

  /// Adds `row`, which is unfinished until it reaches `end`.
  mutating func begin(_ row: ManifestRow, end: Milestone) {
    for key in row.keys { rows[key, default: []].append(UnfinishedRow(index: row.index, end: end)) }
  }

  /// Removes `row`, which has finished.
  mutating func end(_ row: ManifestRow) {
    for key in row.keys {
      guard let place = rows.index(forKey: key) else { continue }
      rows.values[place].removeAll { $0.index == row.index }
      if rows.values[place].isEmpty { rows.remove(at: place) }
    }
  }
}

extension ManifestRow {
  /// The names by which other rows may refer to this one.
  fileprivate var keys: [String] { name.map { [$0, url] } ?? [url] }
}
