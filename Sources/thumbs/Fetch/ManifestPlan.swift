import BatchFetch
import ImageCache
import Synchronization

/// The rows of manifests, each with the names of its files: names go to whoever comes first in the manifest, not to
/// whoever is downloaded first.
final class ManifestPlan: RowPlan {
  private struct State {
    var names: OutputNames
    var dependencies = RowDependencies()
  }

  private let list: ManifestList
  private let specs: @Sendable (RowOptions) -> [ThumbnailSpec]
  private let state: Mutex<State>

  /// The rows of `list`, with files called by `names`, and the thumbnails that `specs` says for the words of a row.
  init(_ list: ManifestList, names: OutputNames, specs: @escaping @Sendable (RowOptions) -> [ThumbnailSpec]) {
    self.list = list
    self.specs = specs
    state = Mutex(State(names: names))
  }

  func next() -> PlannedRow? {
    guard let entry = list.next() else { return nil }
    guard case .row(let row) = entry else { return PlannedRow(entry: entry) }
    return state.withLock { state in
      let planned = PlannedRow(
        entry: entry, name: state.names.claim(row), specs: specs(row.options),
        ownFields: row.options.headers.map { $0.name.lowercased() }, after: state.dependencies.ends(of: row))
      state.dependencies.begin(row, end: planned.end)
      return planned
    }
  }

  func finish(_ row: PlannedRow) {
    if case .row(let row) = row.entry { state.withLock { $0.dependencies.end(row) } }
    row.end.reach()
  }

  var failure: ManifestError? { list.failure }
}
