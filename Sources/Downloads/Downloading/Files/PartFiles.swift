internal import Synchronization

/// The part files of a downloader, so that callers who request the same file at the same time share one download.
final class PartFiles: Sendable {
  private struct Entry {
    weak var file: PartFile?
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// Returns the part file of `target`. May wait for the disk.
  ///
  /// - Throws: The failures of ``PartFile/init(_:)``, and `output_conflict` if the file is being downloaded from
  ///   another URL, or with another expectation.
  func file(_ target: FileTarget) throws(FetchFailure) -> PartFile {
    try entries.withLock { entries throws(FetchFailure) in
      entries = entries.filter { $0.value.file != nil }
      if let known = entries[target.path]?.file {
        if known.target == target, known.lock() { return known }
        if known.isInUse {
          throw FetchFailure(.outputConflict, "\(target.path) is being downloaded by another request.")
        }
      }
      let file = try PartFile(target)
      entries[target.path] = Entry(file: file)
      return file
    }
  }
}
