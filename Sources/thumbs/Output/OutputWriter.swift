import Glibc
import ImageCache
import Synchronization

/// Writes files into one directory and its subdirectories. A reader sees each file whole or not at all.
///
/// A file is written under a temporary name in the directory itself, then renamed into place. It is not flushed with
/// `fsync`: the next run detects a thumbnail that a power failure damaged, and writes it again.
final class OutputWriter: Sendable {
  /// The result of writing a file.
  enum WriteResult: Hashable, Sendable {
    /// The file is new or has new contents.
    case written
    /// The file had the same bytes already and was left alone, including its modification time.
    case unchanged
  }

  /// The rule for files that exist already.
  enum Replacement: Hashable, Sendable {
    /// Replace only thumbnails, which ``ThumbnailMark`` recognizes.
    case own
    /// Replace any file except those that the run itself uses.
    case any
  }

  /// The path of the directory, as given by the caller.
  let directory: String
  let descriptor: Int32
  let replacement: Replacement
  let reserved: ReservedFiles
  /// The number of temporary files created so far.
  let temporaries = Atomic<Int>(0)
  /// The owner of each file that was written for an owner. Names and owners are stored as hashes.
  private let owners = Mutex<[Int: Int]>([:])

  /// Opens `directory`, creating it and its parents if missing, and checks that files can be created in it.
  init(
    directory: String, replacement: Replacement = .own, reserved: ReservedFiles = ReservedFiles()
  ) throws(OutputError) {
    self.directory = directory
    self.replacement = replacement
    self.reserved = reserved
    _ = try NewDirectories(for: directory)
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

  /// Writes `bytes` to the file `name`, a path relative to the directory as ``OutputNames`` assigns it. Creates missing
  /// subdirectories.
  ///
  /// An existing file is replaced only if ``replacement`` allows it, and never if it is reserved or was written for
  /// another `owner`. Without an owner, the caller guarantees that nobody else uses the name. The file gets the `label`
  /// of a thumbnail of this size.
  func write(
    _ bytes: [UInt8], as name: String, for owner: String? = nil, label: (OutputLabel, PixelSize)? = nil
  ) throws(OutputError) -> WriteResult {
    if let owner { try take(name, for: owner) }
    let place = try place(of: name)
    while true {
      let target = try occupant(of: place, expecting: bytes)
      switch target {
      case .same:
        if let label { relabel(place, label.0, label.1) }
        return .unchanged
      case .reserved(let role): throw OutputError(.write, path(name), .reserved(role))
      case .other where replacement == .own: throw OutputError(.write, path(name), .notOwn)
      case .nothing, .thumbnail, .other: break
      }
      let isDone = try fill(place, onlyIfFree: target == .nothing) { file throws(OutputError) in
        let code = FileDescriptor.writeAll(bytes[...], to: file).code
        if code != 0 { throw OutputError(action: .write, path: path(name), code: code) }
        if let label { label.0.add(to: file, label.1) }
      }
      // False if another process created the file after this thread found none. The next pass judges that file.
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

  func path(_ name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }
}
