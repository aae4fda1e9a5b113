import Glibc
import Synchronization

/// Writes the report: JSON lines, in the order in which rows end.
///
/// Every line is written at once and whole, so the report is valid after each of them and holds what was done even
/// when the process is killed. On a full disk, a short end takes the place of the line that did not fit. A closed pipe
/// is an error here only if the process ignores `SIGPIPE`, which the command does at its start.
final class ReportWriter: ReportOutput {
  private struct State {
    var failure: OutputError?
    /// The length of the last line.
    var lastLength = 0
  }

  private let file: NamedFile
  private let state = Mutex(State())

  /// Writes to `file`.
  init(_ file: NamedFile) { self.file = file }

  func begin() { file.empty() }

  func append(_ line: ReportLine, position: Int) throws(OutputError) {
    let json = line.json
    try state.withLock { state throws(OutputError) in
      if let failure = state.failure { throw failure }
      try write(json, &state)
    }
  }

  /// Does nothing after an error, which has ended the report already.
  func finish(_ coverage: Coverage) throws(OutputError) {
    try state.withLock { state throws(OutputError) in
      if state.failure == nil { try write(coverage.json, &state) }
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

  /// Ends the report after `count` bytes of a line, all that did fit. Their place takes the shortest end of a partial
  /// report; where even that does not fit, it takes the place of the last whole line. Has no effect on a pipe or a device.
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
