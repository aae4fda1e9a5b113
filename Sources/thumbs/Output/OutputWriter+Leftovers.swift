import Glibc

extension OutputWriter {
  /// Removes the temporary files of runs that were killed. Files that cannot be removed do no harm and stay.
  ///
  /// A file is a leftover if its process is gone and nobody holds a lock on it. A process on another machine or in
  /// another container is invisible here, but its lock is not.
  func removeLeftovers() {
    // A separate open file: reading entries moves its position, which `dup` would share.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let entries = fdopendir(copy) else { return }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      guard let name = Self.temporaryName(entry), let temporary = TemporaryName(name) else { continue }
      if !temporary.isOwnerAlive, !isInUse(name) { unlinkat(descriptor, name, 0) }
    }
  }

  /// Returns the name of `entry` if it has the prefix of temporary files. Other names, of which a directory may have a
  /// million, are not decoded.
  private static func temporaryName(_ entry: UnsafeMutablePointer<dirent>) -> String? {
    withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      guard bytes.starts(with: TemporaryName.prefix.utf8) else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private func isInUse(_ name: String) -> Bool {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) != 0
  }
}
