import BatchFetch
import Synchronization

/// The items of several manifests as one lazy, single-pass sequence.
///
/// Before the first item, all manifests are opened, and those that are read whole are checked. An unreadable manifest
/// stops the command before anything is written.
final class ManifestList: Sequence, IteratorProtocol, EntrySource {
  private struct State {
    var manifests: ArraySlice<Manifest>
    var index = 0
  }

  /// The reading so far. Has its own lock, so that progress can be shown while a read blocks.
  private let meter: InputMeter
  /// True if the rows name their manifests, because there are several.
  private let isNamed: Bool

  /// Locked while an item is read, which may block.
  private let state: Mutex<State>
  /// The error that ended the list early. Under its own lock, so that a run can end while an item is read.
  private let end = Mutex<InputError?>(nil)
  private let emptiness = Mutex<InputError?>(nil)
  private let leftOut = Mutex<[String]>([])

  /// Opens the manifests at `paths`. At most one of them may be `-`, standard input. Without `format`, the format of
  /// each depends on its name and its first bytes.
  convenience init(
    paths: [String], format: ManifestFormat? = nil, keys: ManifestKeys = ManifestKeys(),
    relativeURLs: RelativeURLs = .refused
  ) throws(InputError) {
    try self.init(inputs: paths.map(ManifestInput.file), format: format, keys: keys, relativeURLs: relativeURLs)
  }

  /// Opens the manifests among `inputs`. Images that follow each other are the items of one manifest in memory. `scope`
  /// says what is read of directories, `side` is the longest side of the thumbnails in pixels, and `client` makes a
  /// client for buckets.
  convenience init(
    inputs: [ManifestInput], format: ManifestFormat? = nil, keys: ManifestKeys = ManifestKeys(),
    relativeURLs: RelativeURLs = .refused, scope: LocalScope = LocalScope(), side: Int = Manifest.usualSide,
    client: () -> BucketClient? = { nil }
  ) throws(InputError) {
    if inputs.count(where: { $0 == .file("-") }) > 1 {
      throw InputError("standard input", "can be read only once; give - only once")
    }
    let meter = InputMeter()
    var manifests: [Manifest] = []
    var rest = inputs[...]
    while let input = rest.first {
      let items = rest.prefix { $0.item != nil }.compactMap(\.item)
      rest = rest.dropFirst(items.isEmpty ? 1 : items.count)
      switch input {
      case .file(let path):
        manifests.append(
          try Manifest(path: path, format: format, keys: keys, relativeURLs: relativeURLs, side: side, meter: meter))
      case .local(let argument) where input.directory != nil:
        manifests.append(try Manifest(directory: argument, scope, meter: meter))
      case .bucket(let folder):
        guard let client = client() else { throw InputError("\(folder)/", "cannot be listed here") }
        manifests.append(try Manifest(bucket: folder, client, scope, meter: meter))
      case .url, .local: manifests.append(Manifest(items, meter: meter))
      }
    }
    self.init(manifests, meter: meter)
  }

  /// Creates a list of the items of `manifests`, one manifest after the other, with consecutive indexes. `meter`
  /// measures their reading.
  init(_ manifests: [Manifest], meter: InputMeter = InputMeter()) {
    self.meter = meter
    isNamed = manifests.count > 1
    state = Mutex(State(manifests: manifests[...]))
  }

  /// The number of all items.
  var expectedRows: RowTotal { meter.total }

  /// The error that ended the list early; nil while there are more items, and after a normal end.
  var failure: InputError? { end.withLock { $0 } }

  /// Sentences about the files that were left out of the manifests that have ended.
  var remarks: [String] { leftOut.withLock { $0 } }

  /// The error about a list that has ended without any item; nil for any other list.
  var lack: InputError? { emptiness.withLock { $0 } }

  /// Returns the next item; nil after the last, and after a ``failure``.
  func next() -> ManifestEntry? {
    state.withLock { state in
      do throws(InputError) {
        while !state.manifests.isEmpty {
          let current = state.manifests.startIndex
          if let entry = try state.manifests[current].next(index: state.index) {
            state.index += 1
            return isNamed ? entry.named(state.manifests[current].name) : entry
          }
          let ended = state.manifests.removeFirst()
          if let remark = ended.remark { leftOut.withLock { $0.append(remark) } }
          if state.manifests.isEmpty, state.index == 0 {
            emptiness.withLock { $0 = InputError(ended.name, "no rows: \(ended.found)") }
          }
        }
      } catch {
        end.withLock { $0 = error }
        state.manifests = []
      }
      return nil
    }
  }
}

/// An ordered source of the entries of a run.
protocol EntrySource: Sendable {
  /// Gives the source the means to request pages. Called once, before ``next()``. Default: does nothing.
  func begin(with downloader: Downloader)
  /// Ends requests of pages. Default: does nothing.
  func cancel()
  /// Returns the next entry; nil after the last. May block. Called by one thread at a time.
  func next() -> ManifestEntry?
  /// The number of all entries. Does not block.
  var expectedRows: RowTotal { get }
  /// The error that ended the entries early.
  var failure: InputError? { get }
  /// The error about a list without entries.
  var lack: InputError? { get }
  /// Sentences about files that are no rows.
  var remarks: [String] { get }
}

extension EntrySource {
  func begin(with downloader: Downloader) {}
  func cancel() {}
}
