import Glibc
import Synchronization

/// A destination for report lines.
protocol ReportOutput: Sendable {
  /// Discards the old contents. Called once, when nothing can prevent the run anymore.
  func begin()
  /// Appends `line`, which describes the row at `position` in the batch, from 0. After an error, every call throws that
  /// error again and writes nothing.
  func append(_ line: ReportLine, position: Int) throws(OutputError)
  /// Ends the report with a line that says if every row is in it, and of which `list` it is, if that is known.
  func finish(_ coverage: Coverage, of list: ListEnd?) throws(OutputError)
}

extension ReportOutput {
  /// Ends a report whose rows are not those of a list.
  func finish(_ coverage: Coverage) throws(OutputError) { try finish(coverage, of: nil) }
}

/// The list of a complete run.
struct ListEnd: Hashable, Sendable {
  /// The number of rows, in all shards.
  var rows: Int
  /// The ``ListDigest`` of the rows; nil if it is unknown.
  var digest: String?
  /// The shard that the report is of; nil for one of the whole list.
  var shard: Shard?
}

/// The part of the rows that a run has read.
enum Coverage: Hashable, Sendable {
  /// Every row is in the report.
  case complete
  /// The run ended after this many rows, before it had read all of them.
  case partial(rows: Int)
}

extension Coverage {
  /// The shortest last line of a partial report, for a full disk.
  static let shortestEnd = Array("{\"complete\":false}\n".utf8)

  /// Returns the last line of a report with `items` rows. A report without it was cut.
  func json(items: Int, of list: ListEnd? = nil) -> [UInt8] {
    var text = JSONText(capacity: 128)
    text.object { text in
      switch self {
      case .complete:
        text.member("complete", true)
        list?.write(to: &text)
        text.member("items", items)
      case .partial(let rows):
        text.member("complete", false)
        text.member("items", rows)
        text.member("message", "The run ended before it had read every row; run thumbs fetch again for the rest.")
      }
    }
    text.endLine()
    return text.bytes
  }
}

extension ListEnd {
  fileprivate func write(to text: inout JSONText) {
    text.member("rows", rows)
    if let digest { text.member("list", digest) }
    if let shard {
      text.member("shard", shard.description)
      text.member("by", shard.key.rawValue)
    }
  }
}

/// Writes the report as JSON Lines, in the order in which rows end.
///
/// Each line is written immediately, so the report is valid after each row and complete up to that point even if the
/// process is killed. The last line proves that it was not. If the disk is full, a short last line replaces the line
/// that did not fit. A closed pipe is an error here only if the process ignores `SIGPIPE`.
final class ReportWriter: ReportOutput {
  private struct State {
    var failure: OutputError?
    /// The length of the last line in bytes.
    var lastLength = 0
    /// The number of rows.
    var count = 0
  }

  private let file: NamedFile
  private let state = Mutex(State())

  /// Creates a writer to `file`.
  init(_ file: NamedFile) { self.file = file }

  func begin() { file.empty() }

  func append(_ line: ReportLine, position: Int) throws(OutputError) {
    let json = line.json
    try state.withLock { state throws(OutputError) in
      if let failure = state.failure { throw failure }
      try write(json, &state)
      state.count += 1
    }
  }

  /// Appends `line`, the bytes of a row of another report, without their line feed.
  func append(copyOf line: [UInt8]) throws(OutputError) {
    try state.withLock { state throws(OutputError) in
      if let failure = state.failure { throw failure }
      try write(line + [UInt8(ascii: "\n")], &state)
      state.count += 1
    }
  }

  /// Writes the last line. Does nothing after an error, which has ended the report already.
  func finish(_ coverage: Coverage, of list: ListEnd?) throws(OutputError) {
    try state.withLock { state throws(OutputError) in
      if state.failure == nil { try write(coverage.json(items: state.count, of: list), &state) }
    }
  }

  private func write(_ json: [UInt8], _ state: inout State) throws(OutputError) {
    let (count, code) = FileDescriptor.writeAll(json[...], to: file.descriptor)
    guard code != 0 else {
      state.lastLength = json.count
      return
    }
    end(afterPart: count, lastLength: state.lastLength)
    let failure = OutputError(action: .write, path: file.name, code: code)
    state.failure = failure
    throw failure
  }

  /// Ends the report when only `count` bytes of a line could be written. Overwrites them with ``Coverage/shortestEnd``,
  /// or, if even that does not fit, overwrites the last whole line. Has no effect on a pipe or a device.
  private func end(afterPart count: Int, lastLength: Int) {
    let part = lseek(file.descriptor, 0, SEEK_CUR) - count
    guard part >= 0 else { return }
    for start in [part, part - lastLength] {
      let written = pwrite(file.descriptor, Coverage.shortestEnd, Coverage.shortestEnd.count, start)
      if written == Coverage.shortestEnd.count {
        _ = ftruncate(file.descriptor, start + written)
        return
      }
    }
    _ = ftruncate(file.descriptor, part)
  }
}

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
  /// The number of new rows.
  private let added = Mutex(0)

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
    // Rows that the report lacked come after those that are retried.
    guard position < retried.lineNumbers.count else { return added.withLock { $0 += 1 } }
    replaced.withLock { [number = retried.lineNumbers[position]] in _ = $0.insert(number) }
  }

  /// Replaces the old report. The new one has the ends of the old one, unless a `list` has proved that all rows are
  /// there.
  func finish(_ coverage: Coverage, of list: ListEnd?) throws(OutputError) {
    guard FileVersion(path: retried.path) == retried.version else {
      throw OutputError(.write, retried.path, .changed)
    }
    try directory.replace(name) { file throws(OutputError) in
      let count = try carryOver(to: file)
      try copySpool(to: file)
      let items = count + replaced.withLock { $0.count } + added.withLock { $0 }
      if coverage == .complete, let list, list.rows == items {
        return try write(coverage.json(items: items, of: list)[...], to: file)
      }
      for end in retried.ends { try write((end + [UInt8(ascii: "\n")])[...], to: file) }
      if retried.isPartial { try write(Coverage.partial(rows: items).json(items: items)[...], to: file) }
      var status = stat()
      if fstat(old.descriptor, &status) == 0 { _ = fchmod(file, status.st_mode & 0o777) }
    }
  }

  /// Copies the old lines that were not replaced, and returns their number. Skips those that are not rows.
  private func carryOver(to file: Int32) throws(OutputError) -> Int {
    let replaced = replaced.withLock { $0 }
    var reader = try reading { () throws(InputError) in
      LineReader(try .open(retried.path), longestLine: ReportReader.longestLine)
    }
    var count = 0
    while let line = try reading({ () throws(InputError) in try reader.next(skipping: .spaces) }) {
      guard let bytes = line.bytes, !bytes.isEmpty, !replaced.contains(line.number),
        !retried.otherLines.contains(line.number)
      else { continue }
      try write((bytes + [UInt8(ascii: "\n")])[...], to: file)
      count += 1
    }
    return count
  }

  /// Runs `body`. The report was readable before, so any failure to read it now counts as an I/O error.
  private func reading<Value>(_ body: () throws(InputError) -> Value) throws(OutputError) -> Value {
    do throws(InputError) {
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
    try FileDescriptor.write(bytes, to: file, path: retried.path)
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
