import Synchronization

/// The rows of a report that are tried again.
final class RetryPlan: RowPlan {
  private let rows: Mutex<ArraySlice<PlannedRow>>

  /// Whether the report does not hold every row of its manifests.
  let isPartial: Bool

  init(_ report: RetryReport) {
    rows = Mutex(report.rows[...])
    isPartial = report.isPartial
  }

  func next() -> PlannedRow? { rows.withLock { $0.popFirst() } }

  /// Nothing waits for a row.
  func finish(_ row: PlannedRow) {}

  /// The report was read whole before.
  var failure: ManifestError? { nil }
}
