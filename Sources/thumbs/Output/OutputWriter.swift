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

  /// The rule for files that are there already.
  enum Replacement: Hashable, Sendable {
    /// Only thumbnails, which ``ThumbnailMark`` recognizes, are replaced.
    case own
    /// All files are replaced, except for those that the run itself uses.
    case any
  }

  /// The directory as it was given.
  let directory: String
  let descriptor: Int32
  let replacement: Replacement
  let reserved: ReservedFiles
  private let temporaries = Atomic<Int>(0)
  /// The owner of each file that was written for one, both as hashes.
  private let owners = Mutex<[Int: Int]>([:])

  /// Opens `directory`, making it and its parents where they are missing, and checks that files can be made in it.
  init(
    directory: String, replacement: Replacement = .own, reserved: ReservedFiles = ReservedFiles()
  ) throws(OutputError) {
    self.directory = directory
    self.replacement = replacement
    self.reserved = reserved
    try Self.makeDirectory(directory)
    descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw OutputError(action: .create, path: directory, code: errno) }
    do throws(OutputError) {
      let (file, name) = try createTemporary()
      Glibc.close(file)
      unlinkat(descriptor, name, 0)
    } catch {
      throw OutputError(.create, directory, error.cause)
    }
    removeLeftovers()
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Makes the file `name` hold `bytes`. `name` is one path component, as ``OutputNames`` gives it.
  ///
  /// A file that is there already is replaced only where ``replacement`` allows it, and never where it is reserved, or was
  /// written for another `owner`. Without an owner, the name is known to be nobody else's.
  func write(_ bytes: [UInt8], as name: String, for owner: String? = nil) throws(OutputError) -> Outcome {
    if let owner { try take(name, for: owner) }
    while true {
      let target = try occupant(of: name, expecting: bytes)
      switch target {
      case .same: return .unchanged
      case .reserved(let role): throw OutputError(.write, path(name), .reserved(role))
      case .other where replacement == .own: throw OutputError(.write, path(name), .notOwn)
      case .nobody, .thumbnail, .other: break
      }
      let isDone = try fill(name, onlyIfFree: target == .nobody) { file throws(OutputError) in
        let code = FileDescriptor.writeAll(bytes[...], to: file).code
        if code != 0 { throw OutputError(action: .write, path: path(name), code: code) }
      }
      // Another process made the file after this thread had found none: its file is judged like any other.
      if isDone { return .written }
    }
  }

  private func take(_ name: String, for owner: String) throws(OutputError) {
    let first = owners.withLock { owners in
      let first = owners[name.byteHash, default: owner.byteHash]
      owners[name.byteHash] = first
      return first
    }
    if first != owner.byteHash { throw OutputError(.write, path(name), .taken) }
  }

  /// Makes the file `name` hold what `body` writes to a descriptor; after an error it is as it was.
  func replace(_ name: String, _ body: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    _ = try fill(name, onlyIfFree: false, body)
  }

  /// Writes a temporary file and renames it. False where `name` must be free and is not.
  private func fill(
    _ name: String, onlyIfFree: Bool, _ body: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) -> Bool {
    let (file, temporary) = try createTemporary()
    do throws(OutputError) {
      try close(file, of: name, after: body)
      if try rename(temporary, to: name, onlyIfFree: onlyIfFree) { return true }
      unlinkat(descriptor, temporary, 0)
      return false
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw error
    }
  }

  private func rename(_ temporary: String, to name: String, onlyIfFree: Bool) throws(OutputError) -> Bool {
    if onlyIfFree {
      // A second name for a file is given only where that is free; a rename would replace what came meanwhile.
      if linkat(descriptor, temporary, descriptor, name, 0) == 0 {
        unlinkat(descriptor, temporary, 0)
        return true
      }
      if errno == EEXIST { return false }
      // Not every file system has second names: there, the look before must do.
    }
    guard renameat(descriptor, temporary, descriptor, name) == 0 else { throw failure(name) }
    return true
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

  func path(_ name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }

  func failure(_ name: String) -> OutputError { OutputError(action: .write, path: path(name), code: errno) }

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
