import CGlibc
import Foundation

/// An open file with a `flock`, which the kernel releases when the process dies.
///
/// The lock belongs to the open file, so two instances with the same path exclude each other, even in one process.
final class FileLock: Sendable {
  /// The longest wait for the lock. Other processes hold it for a few milliseconds at a time.
  static let patience: Duration = .seconds(5)

  private let descriptor: Int32
  private let path: String

  /// Opens the file, and creates it with mode 0600 if necessary.
  init(creating path: String) throws(DiskCacheError) {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw DiskCacheError(systemCall: "open", path: path) }
  }

  /// Opens an existing directory and holds a shared lock on it until deinitialization. Changes nothing on disk.
  init(sharingDirectory path: String) throws(DiskCacheError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor < 0 { throw DiskCacheError(systemCall: "open", path: path) }
    // If this throws, `deinit` closes the descriptor, because all properties are initialized.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
      throw DiskCacheError(.io, "\(path) belongs to another user, so the cache is not used.", isLasting: true)
    }
    guard status.st_mode & 0o022 == 0 else {
      throw DiskCacheError(
        .io, "Other users may write to \(path) (chmod go-w); the disk cache is off.", isLasting: true)
    }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { throw DiskCacheError(.busy, "\(path) is being removed.") }
      throw DiskCacheError(systemCall: "flock", path: path)
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// True if the path still names this file. Someone may have removed the whole directory.
  var isInPlace: Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0
      && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  /// True if this process can open files right now: it has descriptors left, and so has the system.
  static var canOpenFiles: Bool {
    let descriptors = (0..<8).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
    return descriptors.allSatisfy { $0 >= 0 }
  }

  /// Runs `body` while holding the lock exclusively.
  ///
  /// A stopped process may hold the lock forever, so this polls and throws `busy` after `patience`.
  func withLock<T>(
    patience: Duration = FileLock.patience, _ body: () throws(DiskCacheError) -> T
  ) throws(DiskCacheError) -> T {
    let deadline = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw DiskCacheError(systemCall: "flock", path: path) }
      guard ContinuousClock.now < deadline else {
        throw DiskCacheError(.busy, "\(path) was locked by another process for \(patience).")
      }
      usleep(500)
    }
    defer { flock(descriptor, LOCK_UN) }
    return try body()
  }

  /// Runs `body` if nobody shares the lock of a directory right now; returns false otherwise.
  ///
  /// Opens the directory by itself: a shared lock would be lost in a failed attempt to make it exclusive (flock(2)).
  static func withFreeDirectory(_ path: String, _ body: () -> Void) throws(DiskCacheError) -> Bool {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor < 0 { throw DiskCacheError(systemCall: "open", path: path) }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { return false }
      throw DiskCacheError(systemCall: "flock", path: path)
    }
    body()
    return true
  }
}

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
