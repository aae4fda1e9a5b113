import CStatfs

/// The room on a file system, in bytes.
struct FileSystemSpace: Hashable {
  /// What this user may still write.
  var available: Int
  /// All of it.
  var whole: Int

  /// Whether there is less left than the cache leaves to others: a twentieth, at most 1 GiB.
  var isShort: Bool { available < min(1 << 30, whole / 20) }
}

extension FileSystemSpace {
  /// The room where `path` is; nil where the system does not say.
  init?(at path: String) {
    var status = statfs()
    guard statfs(path, &status) == 0 else { return nil }
    available = Int(status.f_bavail) * Int(status.f_bsize)
    whole = Int(status.f_blocks) * Int(status.f_bsize)
  }
}
