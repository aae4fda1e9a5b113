import Glibc
import Synchronization

/// Puts what a retry came to into the report that it retries. Rows that were left alone, or that an interrupt kept from
/// ending, keep their old lines.
///
/// New lines are kept aside, and the whole report takes the place of the old one at the end: a run that is killed leaves
/// the old report, which is valid and only forgets what the retry had done.
final class ReportUpdate: ReportOutput {
  private let path: String
  private let name: String
  private let directory: OutputWriter
  private let spool: NamedFile
  private let writer: ReportWriter
  /// The number of the old line of the row at each position of the batch, from 1.
  private let lineNumbers: [Int]
  /// The numbers of old lines that have a new one.
  private let replaced = Mutex<Set<Int>>([])

  /// Updates the report at `path`, of which the retry takes the rows of the lines `lineNumbers`.
  init(path: String, lineNumbers: [Int]) throws(OutputError) {
    // A link goes on leading to the report.
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    let target = resolved.map { String(cString: $0) } ?? path
    let slash = target.lastIndex(of: "/")
    self.path = target
    self.lineNumbers = lineNumbers
    name = slash.map { String(target[target.index(after: $0)...]) } ?? target
    directory = try OutputWriter(directory: slash.map { String(target[...$0]) } ?? ".")
    spool = NamedFile(descriptor: try FileDescriptor.unnamedFile(in: directory.directory), name: path)
    writer = ReportWriter(spool)
  }

  /// The old report stays until the end.
  func begin() {}

  func append(_ line: ReportLine, position: Int) throws(OutputError) {
    try writer.append(line, position: position)
    replaced.withLock { [number = lineNumbers[position]] in _ = $0.insert(number) }
  }

  /// Puts the new report into its place. The lines that are carried over tell whether the old one held every row.
  func finish(_ coverage: Coverage) throws(OutputError) {
    try directory.replace(name) { file throws(OutputError) in
      try carryOver(to: file)
      try copySpool(to: file)
    }
  }

  private func carryOver(to file: Int32) throws(OutputError) {
    let replaced = replaced.withLock { $0 }
    var reader = try reading { () throws(ManifestError) in
      LineReader(try .open(path).unpacked(), longestLine: RetryReport.longestLine)
    }
    while let line = try reading({ () throws(ManifestError) in try reader.next() }) {
      guard line.isEnded, let bytes = line.bytes, !replaced.contains(line.number) else { continue }
      try write((bytes + [UInt8(ascii: "\n")])[...], to: file)
    }
  }

  /// The report was read before: what cannot be read now is lost to a fault of the disk.
  private func reading<Value>(_ body: () throws(ManifestError) -> Value) throws(OutputError) -> Value {
    do throws(ManifestError) {
      return try body()
    } catch {
      throw OutputError(action: .write, path: path, code: EIO)
    }
  }

  private func copySpool(to file: Int32) throws(OutputError) {
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    lseek(spool.descriptor, 0, SEEK_SET)
    while true {
      let count = read(spool.descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw OutputError(action: .write, path: path, code: errno) }
      if count == 0 { return }
      try write(chunk[..<count], to: file)
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(OutputError) {
    let code = FileDescriptor.writeAll(bytes, to: file).code
    if code != 0 { throw OutputError(action: .write, path: path, code: code) }
  }
}
