/// A row of the worker.
struct WorkerRow: Sendable {
  /// The id; nil if the line has none that can be used.
  let id: RowID?
  /// The row, without names of files.
  let planned: PlannedRow
  /// The length of the line in bytes.
  let length: Int
}
