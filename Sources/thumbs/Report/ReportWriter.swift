import Glibc
import Synchronization

/// Writes the report: JSON lines, in the order in which rows end.
///
/// Every line is written at once and whole, so the report is valid after each of them and holds what was done even
/// when the process is killed. On a full disk, the part of a line that did fit is taken back. A closed pipe is an error
/// here only if the process ignores `SIGPIPE`, which the command does at its start.
final class ReportWriter: Sendable {
  /// The file, or `standard output`.
  let name: String
  private let descriptor: Int32
  private let failure = Mutex<OutputError?>(nil)

  /// Creates the file at `path`, or empties it; `-` is standard output.
  convenience init(path: String) throws(OutputError) {
    if path == "-" {
      self.init(descriptor: dup(STDOUT_FILENO), name: "standard output")
      return
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw OutputError(action: .create, path: path, code: errno) }
    self.init(descriptor: descriptor, name: path)
  }

  /// Writes to `descriptor`, which is closed with the last reference to the writer.
  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Adds `line`. After an error, nothing more is written and every call throws that error again.
  func append(_ line: ReportLine) throws(OutputError) {
    let json = line.json
    try failure.withLock { failure throws(OutputError) in
      if let failure { throw failure }
      let (count, code) = FileDescriptor.writeAll(json[...], to: descriptor)
      if code == 0 { return }
      takeBack(count)
      let error = OutputError(action: .write, path: name, code: code)
      failure = error
      throw error
    }
  }

  /// Has no effect on what is no file.
  private func takeBack(_ count: Int) {
    let end = lseek(descriptor, 0, SEEK_CUR)
    if count > 0, end >= count { _ = ftruncate(descriptor, end - count) }
  }
}
