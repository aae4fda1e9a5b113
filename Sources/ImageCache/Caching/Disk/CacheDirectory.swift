import Foundation

/// The layout of a cache directory.
///
///     CACHEDIR.TAG   tells backup tools to skip the directory
///     CURRENT        number of the current generation, replaced by renaming
///     LIMIT          optional limit of the cache in bytes
///     RUNS           numbers of the last runs, for people
///     lock           locked (flock) around every write, checkpoint and change of generations
///     g000007/       one generation: a database whose schema never changes
///
/// A generation is never repaired, migrated or unlinked while in use. A new one replaces it, and the old one is removed
/// once no process holds the shared lock on its directory.
///
/// The directory, its files and its generations must belong to the user of the process, no other user may write to a
/// generation, and symbolic links in the directory are not followed: another user could otherwise provide entries, or
/// have other files overwritten.
struct CacheDirectory: Sendable {
  let path: String
  /// Opens a file for reading, like `open(2)`.
  let openFile: @Sendable (String) -> Int32

  /// - Parameter openFile: Opens a file for reading. Returns a descriptor, or -1 after setting `errno`.
  init(
    path: String,
    openFile: @escaping @Sendable (String) -> Int32 = { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
  ) {
    self.path = path
    self.openFile = openFile
  }

  var lockPath: String { path + "/lock" }
  private var currentPath: String { path + "/CURRENT" }
  private var limitPath: String { path + "/LIMIT" }

  /// Returns the generation number in `CURRENT`; nil if the file does not exist or holds no number.
  ///
  /// - Throws: If the file may exist but cannot be read now (no descriptors, no memory, no permission, a failing disk).
  ///   Treating that as "no cache" would start an empty generation and lose all entries.
  func currentGeneration() throws(DiskCacheError) -> Int? {
    try checkOwner()
    guard let text = try text(ofFile: currentPath), text.hasPrefix("g"),
      let number = Int(text.dropFirst().prefix { $0 != "\n" }), number > 0
    else { return nil }
    return number
  }

  /// Creates the directory with mode 0700 and the tag file, if they do not exist.
  ///
  /// - Throws: If that fails, or the directory belongs to another user.
  func create() throws(DiskCacheError) {
    if let code = makeDirectories(path, mode: 0o700).failure?.code {
      let reason = String(cString: strerror(code))
      throw DiskCacheError(
        code, "Cannot create the cache directory \(path): \(reason); the disk cache is off.")
    }
    try checkOwner()
    guard access(path + "/CACHEDIR.TAG", F_OK) != 0 else { return }
    // Another process may create the file at the same time.
    _ = try write(Self.tag, toNew: path + "/CACHEDIR.TAG")
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

  /// The signature required by the Cache Directory Tagging Specification.
  private static let tag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This file marks a cache directory of thumbs; see https://bford.info/cachedir/
    """ + "\n"
}
