/// An ordered source of the rows of a run.
protocol RowPlan: Sendable {
  /// Returns the next row; nil after the last, and after a ``failure``. May block. Called by one thread at a time.
  func next() -> PlannedRow?
  /// Marks `row` as finished: its files are written, or never will be. Called on any thread.
  func finish(_ row: PlannedRow)
  /// The number of all rows. Does not block.
  var expectedRows: RowTotal { get }
  /// True if rows are known to be missing from this plan.
  var isPartial: Bool { get }
  /// The list of the rows, when all of them have been read; nil if the rows are not those of a list. Default nil.
  var listEnd: ListEnd? { get }
  /// The error that ended the rows early; nil while there are more rows, and after a normal end.
  var failure: ManifestError? { get }
}

extension RowPlan {
  var listEnd: ListEnd? { nil }
}
