import Glibc

/// The device and inode of a file, the same under all of its names.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// The identity of the file that `status` describes. Nil for anything but a regular file: a pipe, a terminal or
  /// `/dev/null` may serve several purposes at once.
  init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// The identity of the regular file at `path`, following links; nil if there is none.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The identity of the regular file that `descriptor` has open; nil if it is not one.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}
