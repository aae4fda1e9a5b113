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

  /// Opens the file at `path`, creating it if missing; `-` is standard output. Follows a link in its place only if it
  /// belongs to this user or to root, like `/dev/stdout`: others could name any file of this user.
  init(path: String) throws(OutputError) {
    guard path != "-" else {
      (name, descriptor, self.path, isNew) = ("standard output", dup(STDOUT_FILENO), nil, false)
      return
    }
    (descriptor, isNew) = try Self.open(path)
    (name, self.path) = (path, path)
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

  private static func open(_ path: String) throws(OutputError) -> (descriptor: Int32, isNew: Bool) {
    let flags = O_WRONLY | O_CLOEXEC | O_CREAT
    var file = Glibc.open(path, flags | O_EXCL, 0o644)
    if file >= 0 { return (file, true) }
    if errno == EEXIST { file = Glibc.open(path, flags | O_NOFOLLOW, 0o644) }
    if file < 0, errno == ELOOP { file = try follow(path, flags) }
    guard file >= 0 else { throw OutputError(action: .create, path: path, code: errno) }
    return (file, false)
  }

  /// Opens the target of the link at `path`. Fails with `ELOOP` if another link has taken its place by then.
  private static func follow(_ path: String, _ flags: Int32) throws(OutputError) -> Int32 {
    guard let link = Link(path) else { throw OutputError(.create, path, .foreignLink) }
    let file = Glibc.open(path, flags, 0o644)
    if file < 0 || Link(path) == link { return file }
    close(file)
    errno = ELOOP
    return -1
  }

  /// A link of this user or of root.
  private struct Link: Equatable {
    private let inode: ino_t
    /// Moving a link away and back changes this time.
    private let changed: [Int]

    init?(_ path: String) {
      var status = stat()
      guard lstat(path, &status) == 0, [0, geteuid()].contains(status.st_uid) else { return nil }
      (inode, changed) = (status.st_ino, [status.st_ctim.tv_sec, status.st_ctim.tv_nsec])
    }
  }
}
