import Glibc

/// A file or a directory that cannot be written.
struct OutputError: Error, Hashable, Sendable {
  /// What was tried.
  enum Action: String, Hashable, Sendable {
    /// Making the directory, or a file in it.
    case create
    /// Putting bytes into a file, or a file into its place.
    case write
  }

  /// What was tried.
  var action: Action
  /// The file or the directory.
  var path: String
  /// The system's error number.
  var code: Int32

  /// Whether every further file will fail too: the disk is full, read-only or broken. Then the command ends with 74.
  var isFatal: Bool { [ENOSPC, EDQUOT, EROFS, EIO].contains(code) }

  /// Whether nobody reads any more: the other end of a pipe was closed.
  var isBrokenPipe: Bool { code == EPIPE }
}

extension OutputError: CustomStringConvertible {
  /// `Cannot write thumbs/a.jpg: No space left on device.`
  var description: String { "Cannot \(action.rawValue) \(path): \(String(cString: strerror(code)))." }
}
