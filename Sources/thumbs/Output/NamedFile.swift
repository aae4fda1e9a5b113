import Glibc

/// An output file that the command line names. It is opened before the run, so that a bad path fails early, and keeps
/// its contents until ``empty()``.
final class NamedFile: Sendable {
  /// The path, or `standard output`.
  let name: String
  let descriptor: Int32
  /// The path; nil for standard output and for a descriptor that was open already.
  let path: String?
  /// True if ``init(path:)`` created the file.
  private let isNew: Bool

  /// Opens the file at `path`, creating it if missing; `-` is standard output.
  init(path: String) throws(OutputError) {
    guard path != "-" else {
      (name, descriptor, self.path, isNew) = ("standard output", dup(STDOUT_FILENO), nil, false)
      return
    }
    var file = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0o644)
    isNew = file >= 0
    if !isNew, errno == EEXIST { file = open(path, O_WRONLY | O_CLOEXEC | O_CREAT, 0o644) }
    guard file >= 0 else { throw OutputError(action: .create, path: path, code: errno) }
    (name, descriptor, self.path) = (path, file, path)
  }

  /// Wraps the open `descriptor`, and closes it when the object is released.
  init(descriptor: Int32, name: String) {
    (self.name, self.descriptor, path, isNew) = (name, descriptor, nil, false)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The identity of the file; nil if it is not a regular file.
  var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

  /// Removes the file if ``init(path:)`` created it. Called if the run does not take place.
  func discard() {
    if isNew, let path { unlink(path) }
  }

  /// Truncates the file. Has no effect on standard output, a pipe or a device.
  func empty() {
    if path != nil { _ = ftruncate(descriptor, 0) }
  }
}
