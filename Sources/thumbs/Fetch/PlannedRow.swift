import BatchFetch
import Synchronization

/// An item of a manifest with the names of its files.
struct PlannedRow: Sendable {
  var entry: ManifestEntry
  /// Nil for a row that names no picture.
  var name: OutputName?
}

/// The items of manifests in their order, each with the names of its files: names go to whoever comes first in the
/// manifest, not to whoever is downloaded first.
final class PlannedRows: Sequence, IteratorProtocol, Sendable {
  private let list: ManifestList
  private let names: Mutex<OutputNames>
  /// Is told the number of rows when all are read.
  private let onEnd: @Sendable (Int) -> Void
  private let count = Atomic(0)

  init(_ list: ManifestList, names: OutputNames, onEnd: @escaping @Sendable (Int) -> Void) {
    self.list = list
    self.names = Mutex(names)
    self.onEnd = onEnd
  }

  func next() -> PlannedRow? {
    guard let entry = list.next() else {
      onEnd(count.load(ordering: .relaxed))
      return nil
    }
    count.add(1, ordering: .relaxed)
    guard case .row(let row) = entry else { return PlannedRow(entry: entry) }
    return PlannedRow(entry: entry, name: names.withLock { $0.claim(row) })
  }
}
