import Glibc
import Synchronization

/// Updates the report that is being retried: retried rows get new lines, all others keep their old ones.
///
/// New lines go to a temporary file, and the complete report replaces the old one at the end. If the run is killed, the
/// old report remains. It is valid and only lacks the results of the retry.
final class ReportUpdate: ReportOutput {
  private let retried: RunInputs.Retried
  /// The name of the file in ``directory``. If the report was named by a link, it is that of the target.
  private let name: String
  private let directory: OutputWriter
  /// The old report, locked so that two retries never update it at once.
  private let old: NamedFile
  private let spool: NamedFile
  private let writer: ReportWriter
  /// The numbers of the old lines that have been replaced.
  private let replaced = Mutex<Set<Int>>([])

  /// Opens and locks the report that was read as `retried`.
  ///
  /// - Throws: An `OutputError` if the report is compressed, has changed since, or is being updated by another retry.
  init(_ retried: RunInputs.Retried) throws(OutputError) {
    let path = Self.target(of: retried.path)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let file = open(retried.path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw OutputError(action: .write, path: retried.path, code: errno) }
    self.retried = retried
    name = parts.last.map(String.init) ?? path
    old = NamedFile(descriptor: file, name: retried.path)
    directory = try OutputWriter(directory: parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/")
    spool = NamedFile(descriptor: try FileDescriptor.unnamedFile(in: directory.directory), name: retried.path)
    writer = ReportWriter(spool)
    guard flock(file, LOCK_EX | LOCK_NB) == 0, FileVersion(descriptor: file) == retried.version else {
      throw OutputError(.write, retried.path, .changed)
    }
    if Self.isCompressed(file) { throw OutputError(.write, retried.path, .compressed) }
  }

  /// Does nothing: the old report stays until the end.
  func begin() {}

  func append(_ line: ReportLine, position: Int) throws(OutputError) {
    // A canceled or skipped retry gives no new result. The old line keeps the reason for the retry.
    if line.status == .cancelled { return }
    try writer.append(line, position: position)
    replaced.withLock { [number = retried.lineNumbers[position]] in _ = $0.insert(number) }
  }

  /// Replaces the old report. The new one has the ends of the old one, since a retry reads no manifest.
  func finish(_ coverage: Coverage, of list: ListEnd?) throws(OutputError) {
    guard FileVersion(path: retried.path) == retried.version else {
      throw OutputError(.write, retried.path, .changed)
    }
    try directory.replace(name) { file throws(OutputError) in
      let count = try carryOver(to: file)
      try copySpool(to: file)
      let items = count + replaced.withLock { $0.count }
      for end in retried.ends { try write((end + [UInt8(ascii: "\n")])[...], to: file) }
      if retried.isPartial { try write(Coverage.partial(rows: items).json(items: items)[...], to: file) }
      var status = stat()
      if fstat(old.descriptor, &status) == 0 { _ = fchmod(file, status.st_mode & 0o777) }
    }
  }

  /// Copies the old lines that were not replaced, and returns their number. Skips those that are not rows.
  private func carryOver(to file: Int32) throws(OutputError) -> Int {
    let replaced = replaced.withLock { $0 }
    var reader = try reading { () throws(ManifestError) in
      LineReader(try .open(retried.path), longestLine: RetryReport.longestLine)
    }
    var count = 0
    while let line = try reading({ () throws(ManifestError) in try reader.next(skipping: .spaces) }) {
      guard let bytes = line.bytes, !bytes.isEmpty, !replaced.contains(line.number),
        !retried.otherLines.contains(line.number)
      else { continue }
      try write((bytes + [UInt8(ascii: "\n")])[...], to: file)
      count += 1
    }
    return count
  }

  /// Runs `body`. The report was readable before, so any failure to read it now counts as an I/O error.
  private func reading<Value>(_ body: () throws(ManifestError) -> Value) throws(OutputError) -> Value {
    do throws(ManifestError) {
      return try body()
    } catch {
      throw OutputError(action: .write, path: retried.path, code: EIO)
    }
  }

  private func copySpool(to file: Int32) throws(OutputError) {
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    lseek(spool.descriptor, 0, SEEK_SET)
    while true {
      let count = read(spool.descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw OutputError(action: .write, path: retried.path, code: errno) }
      if count == 0 { return }
      try write(chunk[..<count], to: file)
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(OutputError) {
    let code = FileDescriptor.writeAll(bytes, to: file).code
    if code != 0 { throw OutputError(action: .write, path: retried.path, code: code) }
  }

  private static func target(of path: String) -> String {
    guard let target = realpath(path, nil) else { return path }
    defer { free(target) }
    return String(cString: target)
  }

  private static func isCompressed(_ file: Int32) -> Bool {
    var start: [UInt8] = [0, 0]
    return pread(file, &start, 2, 0) == 2 && start == [0x1F, 0x8B]
  }
}
