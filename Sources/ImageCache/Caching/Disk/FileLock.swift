import Foundation

/// An open file that carries a `flock`, which the kernel gives back when its process dies.
///
/// Locks belong to the open file: two of these on one path exclude one another, in one process as in two.
final class FileLock: Sendable {
  /// How long the lock is waited for: others need it for some milliseconds each.
  static let patience: Duration = .seconds(5)

  private let descriptor: Int32
  private let path: String

  /// Opens the file, and creates it with mode 0600.
  init(creating path: String) throws(DiskCacheError) {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw DiskCacheError(systemCall: "open", path: path) }
  }

  /// Opens an existing directory and shares its lock until the end of this object's life. Changes nothing on disk.
  init(sharingDirectory path: String) throws(DiskCacheError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { throw DiskCacheError(systemCall: "open", path: path) }
    // Closed by `deinit`, which follows a throw from here: every property has its value.
    if flock(descriptor, LOCK_SH | LOCK_NB) != 0 { throw DiskCacheError(.busy, "\(path) is being removed.") }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Whether the path still names this file: someone may have removed the whole directory.
  var isInPlace: Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0
      && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  /// Runs `body` while no other holder of this lock does.
  ///
  /// A stopped process may keep the lock for ever, so this polls and gives up after `patience` with `busy`.
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

  /// Runs `body` if nobody shares the lock right now; false if somebody does.
  func withLockIfFree(_ body: () throws(DiskCacheError) -> Void) throws(DiskCacheError) -> Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
    try body()
    return true
  }
}
