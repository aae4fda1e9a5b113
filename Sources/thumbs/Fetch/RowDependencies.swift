import BatchFetch

/// The unfinished rows, keyed by their names and URLs. Its size is bounded by the number of rows that the batch pulls
/// ahead, not by the manifest.
struct RowDependencies {
  private var rows: [String: UnfinishedRows] = [:]

  /// Makes `planned` wait for the rows that it depends on, and adds it to the unfinished rows.
  mutating func begin(_ planned: inout PlannedRow) {
    guard case .row(let row) = planned.entry else { return }
    planned.after = ends(of: row)
    for key in row.keys { rows[key, default: UnfinishedRows()].insert(row.index, end: planned.end) }
  }

  /// Returns the ends of the rows that `row` depends on: unfinished earlier rows with a matching name or URL.
  private func ends(of row: ManifestRow) -> [Milestone] {
    row.options.depends.flatMap { key in rows[key]?.ends ?? [] }
  }

  /// Removes `row`, which has finished.
  mutating func end(_ row: ManifestRow) {
    for key in row.keys {
      guard let place = rows.index(forKey: key) else { continue }
      rows.values[place].remove(row.index)
      if rows.values[place].isEmpty { rows.remove(at: place) }
    }
  }
}

/// The unfinished rows with the same key. Nearly always one, for which no memory is allocated; a list that repeats one
/// URL has thousands.
private struct UnfinishedRows {
  private var first: (index: Int, end: Milestone)?
  private var others: [Int: Milestone] = [:]

  var isEmpty: Bool { first == nil && others.isEmpty }

  var ends: [Milestone] { (first.map { [$0.end] } ?? []) + others.values }

  mutating func insert(_ index: Int, end: Milestone) {
    if isEmpty { first = (index, end) } else { others[index] = end }
  }

  mutating func remove(_ index: Int) {
    if first?.index == index { first = nil } else { others[index] = nil }
  }
}

extension ManifestRow {
  /// The names by which other rows may refer to this one.
  fileprivate var keys: [String] { name.map { [$0, url] } ?? [url] }
}
