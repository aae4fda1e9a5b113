import Glibc

/// A file that the user named for output. It is opened before the run, so that a bad path is known early, and keeps what it
/// had until ``empty()``.
final class NamedFile: Sendable {
  /// The path, or `standard output`.
  let name: String
  let descriptor: Int32
  /// Nil for standard output.
  let path: String?
  /// Whether the file was not there before.
  private let isNew: Bool

  /// Opens the file at `path`, and makes it where it is missing; `-` is standard output.
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

  /// A file that is open already as `descriptor`, which is closed with the last reference to this.
  init(descriptor: Int32, name: String) {
    (self.name, self.descriptor, path, isNew) = (name, descriptor, nil, false)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The file, where it is a regular one.
  var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

  /// Removes the file if it was not there before, because the run does not take place.
  func discard() {
    if isNew, let path { unlink(path) }
  }

  /// Drops what the file had. Has no effect on standard output, a pipe or a device.
  func empty() {
    if path != nil { _ = ftruncate(descriptor, 0) }
  }
}
