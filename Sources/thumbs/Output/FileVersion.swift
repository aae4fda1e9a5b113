import Glibc

/// The identity, size and modification time of a file. If two are equal, the file was neither replaced nor changed in
/// between.
struct FileVersion: Hashable, Sendable {
  private let identity: FileIdentity
  private let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  /// The version of the regular file that `descriptor` has open; nil for anything else.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The version of the regular file at `path`; nil if there is none.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard let identity = FileIdentity(status) else { return nil }
    self.identity = identity
    size = Int(status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
