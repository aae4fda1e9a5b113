import Synchronization

/// The rows of a plan as a sequence that is counted.
final class PlannedRows: Sequence, IteratorProtocol, Sendable {
  private let plan: any RowPlan
  /// Is told the number of rows when all are read.
  private let onEnd: @Sendable (Int) -> Void
  private let count = Atomic(0)
  private let isAtEnd = Atomic(false)

  init(_ plan: any RowPlan, onEnd: @escaping @Sendable (Int) -> Void) {
    self.plan = plan
    self.onEnd = onEnd
  }

  func next() -> PlannedRow? {
    guard let row = plan.next() else {
      isAtEnd.store(true, ordering: .releasing)
      onEnd(count.load(ordering: .relaxed))
      return nil
    }
    count.add(1, ordering: .relaxed)
    return row
  }

  /// Whether `finished` rows are all there are.
  func coverage(finished: Int) -> Coverage {
    isAtEnd.load(ordering: .acquiring) && !plan.isPartial ? .complete : .partial(rows: finished)
  }
}
