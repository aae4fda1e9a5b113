import Synchronization

/// The rows of a report that are retried.
final class RetryPlan: RowPlan {
  private let rows: Mutex<ArraySlice<PlannedRow>>

  /// True if the report lacks rows of its manifests.
  let isPartial: Bool

  /// The number of rows to retry, which is known.
  let expectedRows: RowTotal

  init(_ report: RetryReport) {
    expectedRows = .exactly(report.rows.count)
    rows = Mutex(report.rows[...])
    isPartial = report.isPartial
  }

  func next() -> PlannedRow? { rows.withLock { $0.popFirst() } }

  /// Does nothing: retried rows have no dependencies.
  func finish(_ row: PlannedRow) {}

  /// Always nil: the report has already been read whole.
  var failure: ManifestError? { nil }
}
