import Glibc
import ImageCache

/// A file in the output directory or below it. Its directory is open, so that nobody can replace that by a link to
/// another one in the meantime.
struct OutputPlace: ~Copyable {
  /// The descriptor of the directory.
  let directory: Int32
  /// The name of the file in its directory.
  let name: String
  /// The path of the file, relative to the output directory.
  private let relativePath: String
  private let writer: OutputWriter

  /// Creates the place of the file `name` in `directory`, which is closed with this value unless it is that of
  /// `writer`.
  init(_ name: String, in directory: Int32, relativePath: String, of writer: OutputWriter) {
    (self.name, self.directory, self.relativePath, self.writer) = (name, directory, relativePath, writer)
  }

  deinit {
    if directory != writer.descriptor { close(directory) }
  }

  /// The path of the file for messages.
  var path: String { writer.path(relativePath) }

  /// The failure of the last system call.
  var failure: OutputError { OutputError(action: .write, path: path, code: errno) }
}

extension OutputWriter {
  /// Returns the place of the file `name`, a relative path. Creates the subdirectories that are missing. A link in
  /// place of a subdirectory is an error, because it may lead out of the directory.
  func place(of name: String) throws(OutputError) -> OutputPlace {
    guard name.utf8.contains(UInt8(ascii: "/")) else {
      return OutputPlace(name, in: descriptor, relativePath: name, of: self)
    }
    let names = FileNameText.components(of: name)
    if names.contains(where: ["", ".", ".."].contains) {
      throw OutputError(action: .write, path: path(name), code: EINVAL)
    }
    var directory = descriptor
    for (depth, part) in names.dropLast().enumerated() {
      let parent = directory
      defer { if parent != descriptor { close(parent) } }
      directory = try subdirectory(part, of: parent, path: names[...depth].joined(separator: "/"))
    }
    return OutputPlace(names[names.count - 1], in: directory, relativePath: name, of: self)
  }

  private func subdirectory(_ name: String, of directory: Int32, path: String) throws(OutputError) -> Int32 {
    while true {
      let file = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if file >= 0 { return file }
      switch errno {
      case ENOTDIR, ELOOP: throw OutputError(.create, self.path(path), .notDirectory)
      // Another thread or process may create the directory first.
      case ENOENT where mkdirat(directory, name, 0o777) == 0 || errno == EEXIST: continue
      default: throw OutputError(action: .create, path: self.path(path), code: errno)
      }
    }
  }
}

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

/// The directories that a run created before anything else. They are removed if the run does not take place.
struct NewDirectories: Sendable {
  /// The paths of the directories that did not exist, the outermost first.
  let paths: [String]

  /// Creates the directory at `path` and its parents, as far as they are missing. If one cannot be created, removes the
  /// others again.
  init(for path: String) throws(OutputError) {
    let (made, failure) = makeDirectories(path, mode: 0o777)
    paths = made
    guard let failure else { return }
    remove()
    throw OutputError(action: .create, path: failure.path, code: failure.code)
  }

  /// Removes the directories, except those that contain something by now.
  func remove() {
    for path in paths.reversed() { rmdir(path) }
  }
}
