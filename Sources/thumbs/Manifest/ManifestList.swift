import Synchronization

/// Several manifests as one sequence of items, read as they are asked for and only once.
///
/// All manifests are opened, and those that are read whole are checked, before the first item: an unreadable one
/// stops the command before anything is written.
final class ManifestList: Sequence, IteratorProtocol, Sendable {
  private struct State {
    var manifests: ArraySlice<Manifest>
    var index = 0
    var failure: ManifestError?
  }

  private let state: Mutex<State>

  /// Opens the manifests at `paths`, of which one may be `-`.
  convenience init(
    paths: [String], keys: ManifestKeys = ManifestKeys(), relativeAddresses: RelativeAddresses = .refused
  ) throws(ManifestError) {
    if paths.count(where: { $0 == "-" }) > 1 {
      throw ManifestError("standard input", "can be read only once; name - once")
    }
    var manifests: [Manifest] = []
    for path in paths {
      manifests.append(try Manifest(path: path, keys: keys, relativeAddresses: relativeAddresses))
    }
    self.init(manifests)
  }

  /// The items of `manifests`, one manifest after the other, numbered through.
  init(_ manifests: [Manifest]) {
    state = Mutex(State(manifests: manifests[...]))
  }

  /// Why the items ended early: a manifest could not be read to its end. Nil while items come, and after a good end.
  var failure: ManifestError? { state.withLock { $0.failure } }

  /// The next item; nil after the last, and after a ``failure``.
  func next() -> ManifestEntry? {
    state.withLock { state in
      do throws(ManifestError) {
        while !state.manifests.isEmpty {
          if let entry = try state.manifests[state.manifests.startIndex].next(index: state.index) {
            state.index += 1
            return entry
          }
          state.manifests.removeFirst()
        }
      } catch {
        state.failure = error
        state.manifests = []
      }
      return nil
    }
  }
}
