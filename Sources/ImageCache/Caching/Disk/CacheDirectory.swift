import CGlibc
public import Foundation
internal import Glibc

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
  /// Examines the file system of a path; nil if that is not possible.
  private let fileSystem: @Sendable (String) -> FileSystem?

  /// - Parameters:
  ///   - openFile: Opens a file for reading. Returns a descriptor, or -1 after setting `errno`.
  ///   - fileSystem: Examines the file system of a path; nil if that is not possible.
  init(
    path: String,
    openFile: @escaping @Sendable (String) -> Int32 = { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) },
    fileSystem: @escaping @Sendable (String) -> FileSystem? = { FileSystem(at: $0) }
  ) {
    self.path = path
    self.openFile = openFile
    self.fileSystem = fileSystem
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

// MARK: Files

// Small files that are replaced as a whole.
extension CacheDirectory {
  /// Throws an error if the directory belongs to another user. Does nothing if it does not exist.
  func checkOwner() throws(DiskCacheError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_uid != geteuid() else { return }
    let name = Self.userName(status.st_uid) ?? "\(status.st_uid)"
    throw DiskCacheError(.io, "\(path) belongs to another user (\(name)), so it is not used.", isLasting: true)
  }

  /// Returns the name of a user; nil if the system has none for the number.
  private static func userName(_ number: uid_t) -> String? {
    // getpwuid returns memory that all threads of the program share.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      guard let texts = buffer.baseAddress, getpwuid_r(number, &entry, texts, buffer.count, &found) == 0 else {
        return nil
      }
      return found.flatMap { String(validatingCString: $0.pointee.pw_name) }
    }
  }

  /// Returns the size of a file in bytes; 0 if it does not exist. Must not open the file: closing a descriptor of the
  /// database file would drop the locks that SQLite holds on it in this process.
  static func size(ofFile path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Returns the first `limit` bytes of a file as text; nil if it does not exist.
  func text(ofFile path: String, limit: Int = 64) throws(DiskCacheError) -> String? {
    let descriptor = openFile(path)
    guard descriptor >= 0 else {
      // ENOTDIR means that a parent is a file. This error is permanent, so there is no cache here.
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw DiskCacheError(systemCall: "open", path: path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw DiskCacheError(systemCall: "fstat", path: path) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      throw DiskCacheError(.io, "\(path) is not a file of this user; the disk cache is off.", isLasting: true)
    }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw DiskCacheError(systemCall: "read", path: path) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Replaces a file atomically. The caller holds the lock.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - text: Its new contents.
  ///   - isSynced: True if the file must survive a power failure.
  func replace(_ path: String, with text: String, isSynced: Bool = true) throws(DiskCacheError) {
    let temporary = path + ".new"
    // A killed process may have left the file, or someone may have put a link there.
    unlink(temporary)
    guard try write(text, toNew: temporary, isSynced: isSynced) else {
      throw DiskCacheError(systemCall: "open", path: temporary)
    }
    guard rename(temporary, path) == 0 else { throw DiskCacheError(systemCall: "rename", path: path) }
  }

  /// Writes a file that must not exist yet; returns false if it does. A failure leaves no file. Unless it is synced, a
  /// power failure after it is renamed may leave an empty file.
  func write(_ text: String, toNew path: String, isSynced: Bool = false) throws(DiskCacheError) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return false }
      throw DiskCacheError(systemCall: "open", path: path)
    }
    defer { close(descriptor) }
    do throws(DiskCacheError) {
      try fill(descriptor, with: Array(text.utf8), path: path, isSynced: isSynced)
      return true
    } catch {
      // On a full disk an empty file would stay, and would never be written again.
      unlink(path)
      throw error
    }
  }

  private func fill(
    _ descriptor: Int32, with bytes: [UInt8], path: String, isSynced: Bool
  ) throws(DiskCacheError) {
    guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw DiskCacheError(systemCall: "write", path: path)
    }
    guard !isSynced || fsync(descriptor) == 0 else { throw DiskCacheError(systemCall: "fsync", path: path) }
  }
}

// MARK: Generations

// The directories of the generations.
extension CacheDirectory {
  /// The files of a generation: SQLite's database, its log, the index of the log, and its journal. The database is the
  /// last to be removed, because a directory without one is not recognized.
  private static let generationFiles = ["cache.db-wal", "cache.db-shm", "cache.db-journal", databaseName]
  private static let databaseName = "cache.db"

  func generationPath(_ number: Int) -> String { path + "/" + Self.generationName(number) }

  func databasePath(_ number: Int) -> String { generationPath(number) + "/" + Self.databaseName }

  /// Throws an error if a file of generation `number` is a link, or belongs to another user. Files may be missing. Its
  /// directory must be one that only this user can change.
  func checkFiles(of number: Int) throws(DiskCacheError) {
    for name in Self.generationFiles {
      let path = generationPath(number) + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
        throw DiskCacheError(.io, "\(path) is not a file of this user; the disk cache is off.", isLasting: true)
      }
    }
  }

  private static func generationName(_ number: Int) -> String {
    let digits = String(number)
    return "g" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// Creates the empty directory of a generation newer than all others and than `last`. The caller holds the lock.
  func createGeneration(after last: Int) throws(DiskCacheError) -> Int {
    let number = max(generations().max() ?? 0, last) + 1
    guard mkdir(generationPath(number), 0o700) == 0 else {
      throw DiskCacheError(systemCall: "mkdir", path: generationPath(number))
    }
    return number
  }

  /// Removes the files of generation `number` and its directory, unless it has any other file.
  func removeGeneration(_ number: Int) {
    for name in Self.generationFiles { unlink(generationPath(number) + "/" + name) }
    rmdir(generationPath(number))
  }

  /// Removes all generations before `current` that no process uses. The caller holds the lock.
  ///
  /// A directory with any file that the cache does not make is left alone, whatever its name. If a generation cannot be
  /// removed now, the next change of generations tries again.
  func removeGenerations(before current: Int) {
    for number in generations() where number < current && isGeneration(number) {
      _ = try? FileLock.withFreeDirectory(generationPath(number)) { removeGeneration(number) }
    }
  }

  /// Returns true if the directory of generation `number` contains a database and no unknown file, and if no other user
  /// may change it.
  private func isGeneration(_ number: Int) -> Bool {
    var status = stat()
    guard lstat(generationPath(number), &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid(), status.st_mode & 0o022 == 0,
      let names = try? FileManager.default.contentsOfDirectory(atPath: generationPath(number))
    else { return false }
    return names.contains(Self.databaseName) && names.allSatisfy(Self.generationFiles.contains)
  }

  /// Returns the numbers of all existing generations, in no particular order.
  private func generations() -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasPrefix("g") && $0.utf8.count <= 16 }.compactMap { name in
      Int(name.dropFirst()).flatMap { Self.generationName($0) == name ? $0 : nil }
    }
  }
}

// MARK: File system

extension CacheDirectory {
  /// Magic numbers from `statfs(2)` of network and FUSE file systems, whose locks and shared memory do not meet the
  /// needs of SQLite's write-ahead log.
  static let remoteFileSystems: [UInt32: String] = [
    0x0000_6969: "NFS", 0x0000_517b: "SMB", 0xff53_4d42: "CIFS", 0xfe53_4d42: "SMB2", 0x0102_1997: "9P",
    0x6573_5546: "FUSE", 0x00c3_6400: "Ceph", 0x5346_414f: "AFS", 0x7375_7245: "Coda", 0x0bd0_0bd0: "Lustre",
  ]

  /// Throws an error if the directory is on a network file system.
  func checkFileSystem() throws(DiskCacheError) {
    guard fileSystem(path) != nil else { throw DiskCacheError(systemCall: "statfs", path: path) }
    if let remoteFault { throw remoteFault }
  }

  /// The error of a directory that is on a network file system, or would be created on one; nil for any other.
  var remoteFault: DiskCacheError? {
    guard let system = fileSystem(CacheCondition.nearestPlace(of: path)), system.kind == .remote else { return nil }
    return DiskCacheError(
      .networkFileSystem,
      "\(path) is on \(system.name), where a shared cache is not safe; images are cached in memory only, for this run.")
  }
}

/// The default location of the cache.
public enum CacheLocation {
  /// Returns `$THUMBS_CACHE_DIR`, or else `$XDG_CACHE_HOME/thumbs`, or else `$HOME/.cache/thumbs`; nil if none is set.
  ///
  /// A relative `XDG_CACHE_HOME` is ignored, as the XDG Base Directory Specification requires.
  public static func standard(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    if let directory = environment["THUMBS_CACHE_DIR"], !directory.isEmpty { return directory }
    if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") { return base + "/thumbs" }
    if let home = environment["HOME"], !home.isEmpty { return home + "/.cache/thumbs" }
    return nil
  }
}

/// Creates the directory at `path` and its parents with `mode`, as far as they are missing. The kernel resolves `..`,
/// as it does when the path is used.
///
/// Returns the paths of the new directories, the outermost first, and the one that could not be created with its
/// `errno` value; nil if `path` is a directory now.
package func makeDirectories(_ path: String, mode: UInt32) -> (made: [String], failure: (path: String, code: Int32)?) {
  var code = makeDirectory(path, mode: mode)
  if code == EEXIST { return ([], nil) }
  if code == 0 { return ([path], nil) }
  let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
  guard code == ENOENT, !parent.isEmpty else { return ([], (path, code)) }
  var (made, failure) = makeDirectories(parent, mode: mode)
  guard failure == nil else { return (made, failure) }
  code = makeDirectory(path, mode: mode)
  if code == 0 { made.append(path) } else if code != EEXIST { failure = (path, code) }
  return (made, failure)
}

/// Creates one directory. Returns an `errno` value: 0 if it is new, `EEXIST` if there is one, and `ENOTDIR` if there is
/// something else.
private func makeDirectory(_ path: String, mode: UInt32) -> Int32 {
  guard mkdir(path, mode) != 0 else { return 0 }
  let code = errno
  var status = stat()
  guard code == EEXIST else { return code }
  return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? EEXIST : ENOTDIR
}
