import Foundation

/// The layout of a cache directory.
///
///     CACHEDIR.TAG   tells backup tools to pass by
///     CURRENT        the number of the generation in use, replaced by renaming
///     LIMIT          what the cache may hold in bytes, where somebody said so
///     lock           flocked around every write, checkpoint and swap of generations
///     g000007/       one generation: a database that never changes its schema
///
/// A generation is never repaired, migrated or unlinked while in use: a new one takes its place, and the old one is
/// removed when the last process that shares the lock of its directory is gone.
struct CacheDirectory: Sendable {
  let path: String
  /// Opens a file for reading, as `open(2)` does.
  private let openFile: @Sendable (String) -> Int32

  /// - Parameter openFile: Opens a file for reading; returns a descriptor, or -1 and sets `errno`.
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

  /// The number in `CURRENT`; nil when the file does not exist or holds no such number.
  ///
  /// - Throws: When the file may be there and cannot be read now (no descriptors left, no memory, no permission, a
  ///   failing disk). To take that for "no cache" would start an empty generation and lose all entries.
  func currentGeneration() throws(DiskCacheError) -> Int? {
    guard let text = try text(ofFile: currentPath), text.hasPrefix("g"),
      let number = Int(text.dropFirst().prefix { $0 != "\n" }), number > 0
    else { return nil }
    return number
  }

  /// Makes the directory with mode 0700 and its tag. Does nothing where they are there.
  func create() throws(DiskCacheError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw DiskCacheError(.io, "The cache directory \(path) cannot be made: \(error.localizedDescription)")
    }
    guard access(path + "/CACHEDIR.TAG", F_OK) != 0 else { return }
    try write(Self.tag, to: path + "/CACHEDIR.TAG")
  }

  /// Makes the empty directory of a generation newer than all others. The caller holds the lock.
  func createGeneration() throws(DiskCacheError) -> Int {
    let number = (generations().max() ?? 0) + 1
    guard mkdir(generationPath(number), 0o700) == 0 else {
      throw DiskCacheError(systemCall: "mkdir", path: generationPath(number))
    }
    return number
  }

  /// Makes `number` the generation that everyone uses from now on. The caller holds the lock.
  func setCurrent(_ number: Int) throws(DiskCacheError) {
    try replace(currentPath, with: "g\(number)\n")
  }

  /// What somebody said the cache may hold, in bytes; nil when nobody did.
  ///
  /// - Throws: When the file cannot be read now. To take that for "no limit" would evict a cache whose stored limit is
  ///   above the standard one.
  func storedLimit() throws(DiskCacheError) -> Int? {
    guard let text = try text(ofFile: limitPath) else { return nil }
    return Int(text.prefix { $0 != "\n" }).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Says what the cache may hold, to all that use it; nil takes it back. The caller holds the lock.
  func setStoredLimit(_ limit: Int?) throws(DiskCacheError) {
    guard let limit else {
      guard unlink(limitPath) == 0 || errno == ENOENT else {
        throw DiskCacheError(systemCall: "unlink", path: limitPath)
      }
      return
    }
    try replace(limitPath, with: "\(limit)\n")
  }

  /// Removes the generations other than `current` that no process uses. The caller holds the lock.
  func removeGenerations(otherThan current: Int) {
    for number in generations() where number != current {
      // A generation that cannot be removed now is met again at the next swap.
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

  /// The size of a file in bytes; 0 when there is none. Does not open it: closing a database's file would drop the
  /// locks that SQLite has on it in this process.
  static func size(ofFile path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The numbers of all generations that exist, in no order.
  private func generations() -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasPrefix("g") }.compactMap { Int($0.dropFirst()) }
  }

  /// The beginning of a small file; nil when the file does not exist.
  private func text(ofFile path: String) throws(DiskCacheError) -> String? {
    let descriptor = openFile(path)
    guard descriptor >= 0 else {
      // Below a file there is no directory: that does not pass.
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw DiskCacheError(systemCall: "open", path: path)
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw DiskCacheError(systemCall: "read", path: path) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Puts a new file in the place of an old one, at once.
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

  /// The Cache Directory Tagging Specification's signature.
  private static let tag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This file marks a cache directory of thumbs; see https://bford.info/cachedir/
    """ + "\n"
}
