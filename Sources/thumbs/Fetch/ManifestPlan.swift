import BatchFetch
import ImageCache
import Synchronization

/// The rows of manifests with the names of their files. Names are assigned in the order of the manifests, so that they
/// do not depend on the order in which downloads finish.
final class ManifestPlan: RowPlan {
  private let list: ManifestList
  private let specs: @Sendable (RowOptions) -> [ThumbnailSpec]
  /// The part of the rows to return; nil for all.
  private let shard: Shard?
  /// The names assigned so far. Only the thread that calls `next()` uses them; the lock is for the compiler.
  private let names: Mutex<OutputNames>
  private let dependencies = Mutex(RowDependencies())
  /// The rows read so far, in all shards.
  private let tally = Mutex(ListTally())

  /// Creates a plan for the rows of `list`, or those of a `shard`. `names` assigns their files, and `specs` returns the
  /// thumbnails of a row.
  init(
    _ list: ManifestList, shard: Shard? = nil, names: OutputNames,
    specs: @escaping @Sendable (RowOptions) -> [ThumbnailSpec]
  ) {
    self.list = list
    self.shard = shard
    self.specs = specs
    self.names = Mutex(names)
  }

  func next() -> PlannedRow? {
    while let entry = list.next() {
      tally.withLock { $0.add(entry) }
      var row = plan(entry)
      guard shard?.contains(entry) ?? true else { continue }
      dependencies.withLock { $0.begin(&row) }
      return row
    }
    return nil
  }

  /// Assigns the names of an entry, whether it is in the shard or not: the names of a run do not depend on its shard.
  private func plan(_ entry: ManifestEntry) -> PlannedRow {
    guard case .row(let row) = entry else { return PlannedRow(entry: entry) }
    let specs = specs(row.options)
    return PlannedRow(
      entry: entry, name: names.withLock { $0.claim(row, specs: specs.files) }, specs: specs,
      ownFields: row.options.headers.map { $0.name.lowercased() })
  }

  func finish(_ row: PlannedRow) {
    if case .row(let row) = row.entry { dependencies.withLock { $0.end(row) } }
    row.end.reach()
  }

  var expectedRows: RowTotal { shard.map { list.expectedRows.part(of: $0.count) } ?? list.expectedRows }

  var listEnd: ListEnd? {
    let tally = tally.withLock { $0 }
    return ListEnd(rows: tally.rows, digest: tally.digest.description, shard: shard)
  }

  var isPartial: Bool { list.failure != nil }

  var failure: ManifestError? { list.failure }
}
