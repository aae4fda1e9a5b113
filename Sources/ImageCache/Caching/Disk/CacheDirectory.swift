import Foundation

/// The layout of a cache directory.
///
///     CACHEDIR.TAG   tells backup tools to skip the directory
///     CURRENT        number of the current generation, replaced by renaming
///     LIMIT          optional limit of the cache in bytes
///     lock           locked (flock) around every write, checkpoint and change of generations
///     g000007/       one generation: a database whose schema never changes
///
/// A generation is never repaired, migrated or unlinked while in use. A new one replaces it, and the old one is removed
/// once no process holds the shared lock on its directory.
struct CacheDirectory: Sendable {
  let path: String
  /// Opens a file for reading, like `open(2)`.
  private let openFile: @Sendable (String) -> Int32

  /// - Parameter openFile: Opens a file for reading. Returns a descriptor, or -1 after setting `errno`.
  init(path: String, openFile: @escaping @Sendable (String) -> Int32 = { open($0, O_RDONLY | O_CLOEXEC) }) {
    self.path = path
    self.openFile = openFile
  }

  var lockPath: String { path + "/lock" }
  private var currentPath: String { path + "/CURRENT" }
  private var limitPath: String { path + "/LIMIT" }

  func generationPath(_ number: Int) -> String {
    let digits = String(number)
    return path + "/g" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  func databasePath(_ number: Int) -> String { generationPath(number) + "/cache.db" }

  /// Returns the generation number in `CURRENT`; nil if the file does not exist or holds no number.
  ///
  /// - Throws: If the file may exist but cannot be read now (no descriptors, no memory, no permission, a failing disk).
  ///   Treating that as "no cache" would start an empty generation and lose all entries.
  func currentGeneration() throws(DiskCacheError) -> Int? {
    guard let text = try text(ofFile: currentPath), text.hasPrefix("g"),
      let number = Int(text.dropFirst().prefix { $0 != "\n" }), number > 0
    else { return nil }
    return number
  }

  /// Creates the directory with mode 0700 and the tag file, if they do not exist.
  func create() throws(DiskCacheError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw DiskCacheError(.io, "Cannot create the cache directory \(path): \(error.localizedDescription)")
    }
    guard access(path + "/CACHEDIR.TAG", F_OK) != 0 else { return }
    try write(Self.tag, to: path + "/CACHEDIR.TAG")
  }

  /// Creates the empty directory of a generation newer than all others. The caller holds the lock.
  func createGeneration() throws(DiskCacheError) -> Int {
    let number = (generations().max() ?? 0) + 1
    guard mkdir(generationPath(number), 0o700) == 0 else {
      throw DiskCacheError(systemCall: "mkdir", path: generationPath(number))
    }
    return number
  }

  /// Makes `number` the current generation of all processes. The caller holds the lock.
  func setCurrent(_ number: Int) throws(DiskCacheError) {
    try replace(currentPath, with: "g\(number)\n")
  }

  /// Returns the limit stored in the directory in bytes; nil if there is none.
  ///
  /// - Throws: If the file cannot be read now. Treating that as "no limit" would evict entries of a cache whose stored
  ///   limit is above the default.
  func storedLimit() throws(DiskCacheError) -> Int? {
    guard let text = try text(ofFile: limitPath) else { return nil }
    return Int(text.prefix { $0 != "\n" }).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Stores a limit for all processes that use the cache; nil removes it. The caller holds the lock.
  func setStoredLimit(_ limit: Int?) throws(DiskCacheError) {
    guard let limit else {
      guard unlink(limitPath) == 0 || errno == ENOENT else {
        throw DiskCacheError(systemCall: "unlink", path: limitPath)
      }
      return
    }
    try replace(limitPath, with: "\(limit)\n")
  }

  /// Removes all generations except `current` that no process uses. The caller holds the lock.
  func removeGenerations(otherThan current: Int) {
    for number in generations() where number != current {
      // If a generation cannot be removed now, the next change of generations tries again.
      guard let hold = try? FileLock(sharingDirectory: generationPath(number)) else { continue }
      _ = try? hold.withLockIfFree { () throws(DiskCacheError) in
        do {
          try FileManager.default.removeItem(atPath: generationPath(number))
        } catch {
          throw DiskCacheError(.io, error.localizedDescription)
        }
      }
    }
  }

  /// Returns the size of a file in bytes; 0 if it does not exist. Must not open the file: closing a descriptor of the
  /// database file would drop the locks that SQLite holds on it in this process.
  static func size(ofFile path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Returns the numbers of all existing generations, in no particular order.
  private func generations() -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasPrefix("g") }.compactMap { Int($0.dropFirst()) }
  }

  /// Returns the first 64 bytes of a file as text; nil if it does not exist.
  private func text(ofFile path: String) throws(DiskCacheError) -> String? {
    let descriptor = openFile(path)
    guard descriptor >= 0 else {
      // ENOTDIR means that a parent is a file. This error is permanent, so there is no cache here.
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw DiskCacheError(systemCall: "open", path: path)
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw DiskCacheError(systemCall: "read", path: path) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Replaces a file atomically.
  private func replace(_ path: String, with text: String) throws(DiskCacheError) {
    try write(text, to: path + ".new")
    guard rename(path + ".new", path) == 0 else { throw DiskCacheError(systemCall: "rename", path: path) }
  }

  private func write(_ text: String, to path: String) throws(DiskCacheError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DiskCacheError(systemCall: "open", path: path) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw DiskCacheError(systemCall: "write", path: path)
    }
  }

  /// The signature required by the Cache Directory Tagging Specification.
  private static let tag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This file marks a cache directory of thumbs; see https://bford.info/cachedir/
    """ + "\n"
}
