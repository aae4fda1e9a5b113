import Synchronization

/// The rows of a plan as a sequence that counts them.
final class PlannedRows: Sequence, IteratorProtocol, Sendable {
  private let plan: any RowPlan
  /// Called with each row that is read.
  private let onRow: @Sendable (PlannedRow) -> Void
  /// Called with the number of rows when the last one has been read.
  private let onEnd: @Sendable (Int) -> Void
  private let count = Atomic(0)
  private let isAtEnd = Atomic(false)

  init(
    _ plan: any RowPlan, onRow: @escaping @Sendable (PlannedRow) -> Void, onEnd: @escaping @Sendable (Int) -> Void
  ) {
    self.plan = plan
    self.onRow = onRow
    self.onEnd = onEnd
  }

  func next() -> PlannedRow? {
    guard let row = plan.next() else {
      isAtEnd.store(true, ordering: .releasing)
      onEnd(count.load(ordering: .relaxed))
      return nil
    }
    count.add(1, ordering: .relaxed)
    onRow(row)
    return row
  }

  /// The number of rows read so far.
  var readCount: Int { count.load(ordering: .relaxed) }

  /// The coverage of a run in which `finished` rows finished.
  func coverage(finished: Int) -> Coverage {
    isAtEnd.load(ordering: .acquiring) && !plan.isPartial ? .complete : .partial(rows: finished)
  }
}
