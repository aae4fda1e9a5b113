import Glibc
import Synchronization

/// Writes the report: JSON lines, in the order in which rows end.
///
/// Every line is written at once and whole, so the report is valid after each of them and holds what was done even
/// when the process is killed. On a full disk, the part of a line that did fit is taken back. A closed pipe is an error
/// here only if the process ignores `SIGPIPE`, which the command does at its start.
final class ReportWriter: ReportOutput {
  private let file: NamedFile
  private let failure = Mutex<OutputError?>(nil)

  /// Writes to `file`.
  init(_ file: NamedFile) { self.file = file }

  func begin() { file.empty() }

  func append(_ line: ReportLine, position: Int) throws(OutputError) {
    let json = line.json
    try failure.withLock { failure throws(OutputError) in
      if let failure { throw failure }
      do throws(OutputError) {
        try write(json)
      } catch {
        failure = error
        throw error
      }
    }
  }

  /// Does nothing after an error, which has ended the report already.
  func finish(_ coverage: Coverage) throws(OutputError) {
    try failure.withLock { failure throws(OutputError) in
      if failure == nil { try write(coverage.json) }
    }
  }

  private func write(_ json: [UInt8]) throws(OutputError) {
    let (count, code) = FileDescriptor.writeAll(json[...], to: file.descriptor)
    if code == 0 { return }
    replacePart(count)
    throw OutputError(action: .write, path: file.name, code: code)
  }

  /// Puts the shortest end of a partial report into the place of the `count` bytes of a line that did fit: nothing longer
  /// may fit any more. Has no effect on a pipe or a device.
  private func replacePart(_ count: Int) {
    let start = lseek(file.descriptor, 0, SEEK_CUR) - count
    guard start >= 0 else { return }
    let written = pwrite(file.descriptor, Coverage.shortestEnd, Coverage.shortestEnd.count, start)
    _ = ftruncate(file.descriptor, start + (written == Coverage.shortestEnd.count ? written : 0))
  }
}
