import CStatfs

/// The space on a file system in bytes.
struct FileSystemSpace: Hashable {
  /// The bytes that this user may still write.
  var available: Int
  /// The size of the file system.
  var whole: Int

  /// True if less space is left than the cache leaves to others: a twentieth of the file system, at most 1 GiB.
  var isShort: Bool { available < min(1 << 30, whole / 20) }
}

extension FileSystemSpace {
  /// Measures the file system of `path`; nil if the system call fails.
  init?(at path: String) {
    var status = statfs()
    guard statfs(path, &status) == 0 else { return nil }
    available = Int(status.f_bavail) * Int(status.f_bsize)
    whole = Int(status.f_blocks) * Int(status.f_bsize)
  }
}
