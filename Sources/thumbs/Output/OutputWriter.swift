import Glibc
import Synchronization

/// Writes files into one directory so that a reader sees each of them whole or not at all.
///
/// A file is written beside its place and renamed into it. It is not synchronised to the disk: a thumbnail lost in a
/// power failure is found to differ, and written again, by the next run.
final class OutputWriter: Sendable {
  /// What became of a file.
  enum Outcome: Hashable, Sendable {
    /// It is new, or has new content.
    case written
    /// It had the same bytes and was left alone, with its time.
    case unchanged
  }

  /// The directory as it was given.
  let directory: String
  let descriptor: Int32
  private let temporaries = Atomic<Int>(0)

  /// Opens `directory`, making it and its parents where they are missing, and checks that files can be made in it.
  init(directory: String) throws(OutputError) {
    self.directory = directory
    try Self.makeDirectory(directory)
    descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw OutputError(action: .create, path: directory, code: errno) }
    do throws(OutputError) {
      let (file, name) = try createTemporary()
      Glibc.close(file)
      unlinkat(descriptor, name, 0)
    } catch {
      throw OutputError(action: .create, path: directory, code: error.code)
    }
    removeLeftovers()
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Makes the file `name` hold `bytes`. `name` is one path component, as ``OutputNames`` gives it.
  func write(_ bytes: [UInt8], as name: String) throws(OutputError) -> Outcome {
    if holds(bytes, in: name) { return .unchanged }
    try replace(name) { file throws(OutputError) in
      let code = FileDescriptor.writeAll(bytes[...], to: file).code
      if code != 0 { throw OutputError(action: .write, path: path(name), code: code) }
    }
    return .written
  }

  /// Makes the file `name` hold what `fill` writes to a descriptor; after an error it is as it was.
  func replace(_ name: String, _ fill: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    let (file, temporary) = try createTemporary()
    do throws(OutputError) {
      try close(file, of: name, after: fill)
      guard renameat(descriptor, temporary, descriptor, name) == 0 else { throw failure(name) }
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw error
    }
  }

  /// Fills and closes; what `close` reports (a full quota on a network file system) counts too.
  private func close(
    _ file: Int32, of name: String, after fill: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) {
    do throws(OutputError) {
      try fill(file)
    } catch {
      Glibc.close(file)
      throw error
    }
    if Glibc.close(file) != 0 { throw failure(name) }
  }

  private func createTemporary() throws(OutputError) -> (descriptor: Int32, name: String) {
    while true {
      let number = temporaries.add(1, ordering: .relaxed).newValue
      let name = "\(TemporaryName(process: getpid(), number: number))"
      let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
      if file >= 0 {
        // Tells a run that looks for leftovers, and does not see this process, that the file is in use.
        flock(file, LOCK_SH | LOCK_NB)
        return (file, name)
      }
      // Left behind by a killed process that had the same number.
      if errno != EEXIST { throw OutputError(action: .create, path: path(name), code: errno) }
    }
  }

  private func holds(_ bytes: [UInt8], in name: String) -> Bool {
    // A link is never followed and a pipe never waited for: both are replaced by a file.
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == bytes.count else {
      return false
    }
    return FileDescriptor.reads(bytes, from: file)
  }

  private func path(_ name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }

  private func failure(_ name: String) -> OutputError { OutputError(action: .write, path: path(name), code: errno) }

  private static func makeDirectory(_ path: String) throws(OutputError) {
    if path.isEmpty { throw OutputError(action: .create, path: path, code: ENOENT) }
    if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
    let code = errno
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    guard code == ENOENT, !parent.isEmpty else { throw OutputError(action: .create, path: path, code: code) }
    try makeDirectory(parent)
    if mkdir(path, 0o777) != 0, errno != EEXIST { throw OutputError(action: .create, path: path, code: errno) }
  }
}
