import BatchFetch
import Glibc

/// A failure to write a file or a directory.
struct OutputError: Error, Hashable, Sendable {
  /// The step that failed.
  enum Action: String, Hashable, Sendable {
    /// Making the directory, or a file in it.
    case create
    /// Putting bytes into a file, or a file into its place.
    case write
  }

  /// The reason of the failure.
  enum Cause: Hashable, Sendable {
    /// The system refused it, with this error number.
    case system(Int32)
    /// There is a file that `thumbs` did not make.
    case notOwn
    /// There is a file that the run uses for something else.
    case reserved(FileRole)
    /// There is a file that the run wrote for another source.
    case taken
    /// Another process changes the file, or has changed it since it was read.
    case changed
    /// The file is compressed, and cannot be updated in its place.
    case compressed
  }

  /// The step that failed.
  var action: Action
  /// The file or the directory.
  var path: String
  /// The reason of the failure.
  var cause: Cause

  /// An error from its parts.
  init(_ action: Action, _ path: String, _ cause: Cause) {
    (self.action, self.path, self.cause) = (action, path, cause)
  }

  /// An error that the system gave the number `code`.
  init(action: Action, path: String, code: Int32) { self.init(action, path, .system(code)) }

  /// The system's error number; nil where it was not the system that refused.
  var code: Int32? { if case .system(let code) = cause { code } else { nil } }

  /// Whether every further file will fail too: the disk is full, read-only or broken. Then the command ends with 74.
  var isFatal: Bool { code.map([ENOSPC, EDQUOT, EROFS, EIO].contains) ?? false }

  /// Whether the same write may succeed later: the fault is in the system, not in the file.
  private var isPassing: Bool { isFatal || code.map([EMFILE, ENFILE, ENOMEM, EAGAIN].contains) ?? false }

  /// Whether nobody reads any more: the other end of a pipe was closed.
  var isBrokenPipe: Bool { code == EPIPE }

  /// The code of a row that this error fails.
  var failureCode: FailureCode {
    switch cause {
    case .system: isPassing ? .outputUnavailable : .outputFailed
    case .notOwn: .outputExists
    case .reserved, .taken, .changed, .compressed: .outputConflict
    }
  }
}

extension OutputError: CustomStringConvertible {
  /// `Cannot write thumbs/a.jpg: No space left on device.`
  var description: String {
    switch cause {
    case .system(let code): "Cannot \(action.rawValue) \(path): \(String(cString: strerror(code)))."
    case .notOwn: "\(path) exists, and thumbs did not make it; --overwrite replaces it."
    case .reserved(let role): "\(path) is \(role) of this run, and is never replaced."
    case .taken: "\(path) is the file of another source; use {index} or {hash} in --name."
    case .changed: "\(path) was changed by another process, and is left as it is now."
    case .compressed: "\(path) is compressed and cannot be updated; name another file for the new report."
    }
  }
}
