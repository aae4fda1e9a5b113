import BatchFetch

/// The rows that are on their way, by what others may call them. As large as the batch's window, whatever the manifest.
struct RowDependencies {
  private var milestones: [String: [Int: Milestone]] = [:]

  /// The ends of the rows that `row` depends on: those above it that have such a name or address and are not over.
  func ends(of row: ManifestRow) -> [Milestone] {
    row.options.depends.flatMap { key in (milestones[key] ?? [:]).values }
  }

  /// `row` is on its way until `end`.
  mutating func begin(_ row: ManifestRow, end: Milestone) {
    for key in row.keys { milestones[key, default: [:]][row.index] = end }
  }

  /// `row` is over.
  mutating func end(_ row: ManifestRow) {
    for key in row.keys {
      milestones[key]?[row.index] = nil
      if milestones[key]?.isEmpty == true { milestones[key] = nil }
    }
  }
}

extension ManifestRow {
  /// What other rows may call this one.
  fileprivate var keys: [String] { name.map { [$0, url] } ?? [url] }
}
