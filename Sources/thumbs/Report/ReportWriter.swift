import Glibc
import Synchronization

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
