import Foundation

// Small files that are replaced as a whole.
extension CacheDirectory {
  /// Throws an error if the directory belongs to another user. Does nothing if it does not exist.
  func checkOwner() throws(DiskCacheError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_uid != geteuid() else { return }
    throw DiskCacheError(.io, "\(path) belongs to another user; the disk cache is off.", isLasting: true)
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
