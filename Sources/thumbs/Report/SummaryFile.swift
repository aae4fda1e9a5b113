import Glibc

/// The file of a summary: opened before the run, so that a bad path is known early, and written after it. Until then it
/// keeps what it had.
final class SummaryFile: Sendable {
  private let name: String
  private let descriptor: Int32
  /// Whatever standard output goes to may hold what others wrote.
  private let isOwn: Bool

  /// Opens the file at `path`, making it where it is missing; `-` is standard output.
  init(path: String) throws(OutputError) {
    isOwn = path != "-"
    name = path == "-" ? "standard output" : path
    descriptor = path == "-" ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw OutputError(action: .create, path: path, code: errno) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Makes `bytes` the whole file; standard output takes them behind what it has.
  func write(_ bytes: [UInt8]) throws(OutputError) {
    // Has no effect on a pipe or a device.
    if isOwn { _ = ftruncate(descriptor, 0) }
    let code = FileDescriptor.writeAll(bytes[...], to: descriptor).code
    if code != 0 { throw OutputError(action: .write, path: name, code: code) }
  }
}
