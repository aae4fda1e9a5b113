import BatchFetch
import Dispatch
import ImageCache
import Synchronization

/// The place of the thumbnails of a run: a directory, or a folder of a bucket.
protocol ThumbnailOutput: Sendable {
  /// The path or URL of the place, as reports have it.
  var directory: String { get }

  /// Records that the run reads the images of `row`, so that no thumbnail replaces them.
  func reserve(_ row: ManifestRow)

  /// Writes the thumbnails of a row. If one cannot be written, the others may be there.
  ///
  /// - Parameter completion: Called exactly once, perhaps before this method returns, with a result per file.
  func write(
    _ files: [OutputFile],
    completion: @escaping @Sendable (Result<[OutputWriter.WriteResult], OutputError>) -> Void)

  /// Returns a search for the files of `row` that an earlier run has made from the same source in the same way; nil if
  /// they cannot prove it.
  func search(for row: PlannedRow) -> (any ExistingSearch)?

  /// Returns true if `name` is a file of `length` bytes, or may be one.
  func contains(_ name: String, length: Int) -> Bool

  /// Removes the file `name` if it contains exactly `bytes`. A bucket keeps it.
  func remove(_ name: String, containing bytes: [UInt8]) throws(OutputError)

  /// Gives up what is being written.
  func cancel()
}

/// A thumbnail to write.
struct OutputFile: Sendable {
  var thumbnail: Thumbnail
  /// The path in the output directory, as ``OutputNames`` assigns it.
  var name: String
  /// The row that the file is written for, if another row may have the same name.
  var owner: String?
  /// The proof of what the thumbnail was made from; nil for none.
  var label: OutputLabel?
  /// True if a file that has these bytes already gets the label, too.
  var labelsUnchanged: Bool
}

/// The rows that files were written for. Names and owners are kept as hashes.
struct FileOwners: Sendable {
  private var owners: [Int: Int] = [:]

  /// Records that the file `name` is for `owner`. Returns false if it was written for another one.
  mutating func take(_ name: String, for owner: String) -> Bool {
    let first = owners[name.byteHash, default: owner.byteHash]
    owners[name.byteHash] = first
    return first == owner.byteHash
  }
}

/// The line of a row, which is known when its files are written.
final class PendingLine: Sendable {
  private enum State {
    case waiting
    case awaited(@Sendable (ReportLine) -> Void)
    case done(ReportLine)
  }

  private let state: Mutex<State>

  /// Creates a line that is known, or will be.
  init(_ line: ReportLine? = nil) { state = Mutex(line.map { .done($0) } ?? .waiting) }

  /// Sets the line. Called once.
  func end(_ line: ReportLine) {
    let waiter = state.withLock { state -> (@Sendable (ReportLine) -> Void)? in
      defer { state = .done(line) }
      return if case .awaited(let body) = state { body } else { nil }
    }
    waiter?(line)
  }

  /// Calls `body` with the line: now if it is known, or else on `queue`. Called once.
  func whenKnown(on queue: DispatchQueue, _ body: @escaping @Sendable (ReportLine) -> Void) {
    let known = state.withLock { state -> ReportLine? in
      if case .done(let line) = state { return line }
      state = .awaited { line in queue.async { body(line) } }
      return nil
    }
    if let known { body(known) }
  }
}
