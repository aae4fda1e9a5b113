import BatchFetch
import ImageCache
import Synchronization

/// The rows of manifests with the names of their files. Names are assigned in the order of the manifests, so that they
/// do not depend on the order in which downloads finish.
final class ManifestPlan: RowPlan {
  private let list: ManifestList
  private let specs: @Sendable (RowOptions) -> [ThumbnailSpec]
  /// The names assigned so far. Only the thread that calls `next()` uses them; the lock is for the compiler.
  private let names: Mutex<OutputNames>
  private let dependencies = Mutex(RowDependencies())

  /// Creates a plan for the rows of `list`. `names` assigns their files, and `specs` returns the thumbnails of a row.
  init(_ list: ManifestList, names: OutputNames, specs: @escaping @Sendable (RowOptions) -> [ThumbnailSpec]) {
    self.list = list
    self.specs = specs
    self.names = Mutex(names)
  }

  func next() -> PlannedRow? {
    guard let entry = list.next() else { return nil }
    guard case .row(let row) = entry else { return PlannedRow(entry: entry) }
    let specs = specs(row.options)
    var planned = PlannedRow(
      entry: entry, name: names.withLock { $0.claim(row, specs: specs) }, specs: specs,
      ownFields: row.options.headers.map { $0.name.lowercased() })
    let end = planned.end
    planned.after = dependencies.withLock { dependencies in
      defer { dependencies.begin(row, end: end) }
      return dependencies.ends(of: row)
    }
    return planned
  }

  func finish(_ row: PlannedRow) {
    if case .row(let row) = row.entry { dependencies.withLock { $0.end(row) } }
    row.end.reach()
  }

  var expectedRows: RowTotal { list.expectedRows }

  var isPartial: Bool { list.failure != nil }

  var failure: ManifestError? { list.failure }
}
