import Glibc

extension OutputWriter {
  /// Removes the temporary files of runs that were killed. What cannot be removed stays: it is in nobody's way.
  ///
  /// A file is left behind when its process is gone and nobody holds it open: a process on another machine, or in
  /// another container, is not seen from here, but its lock is.
  func removeLeftovers() {
    // A descriptor of its own: reading the entries moves its position.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let entries = fdopendir(copy) else { return }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      guard let name = Self.temporaryName(entry), let temporary = TemporaryName(name) else { continue }
      if !temporary.isOwnerAlive, !isInUse(name) { unlinkat(descriptor, name, 0) }
    }
  }

  /// The name of `entry` where it begins as those of temporary files do. A directory may have a million others.
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
