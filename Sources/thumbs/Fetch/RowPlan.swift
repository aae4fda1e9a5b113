/// Where the rows of a run come from, in their order.
protocol RowPlan: Sendable {
  /// The next row; nil after the last, and after a ``failure``. May block. Called by one thread at a time.
  func next() -> PlannedRow?
  /// `row` is over: its files are written, or never will be. Called by any thread.
  func finish(_ row: PlannedRow)
  /// Whether further rows are known to be missing here.
  var isPartial: Bool { get }
  /// Why the rows ended early. Nil while they come, and after a good end.
  var failure: ManifestError? { get }
}
