import BatchFetch
import Glibc

/// A failure to write a file or a directory.
struct OutputError: Error, Hashable, Sendable {
  /// The step that failed.
  enum Action: String, Hashable, Sendable {
    /// Creating the directory, or a file in it.
    case create
    /// Writing a file, or renaming it into place.
    case write
  }

  /// The reason for the failure.
  enum Cause: Hashable, Sendable {
    /// A system call failed with this `errno` value.
    case system(Int32)
    /// The file exists and was not made by `thumbs`.
    case notOwn
    /// The file exists and has another purpose in this run.
    case reserved(FileRole)
    /// The path belongs to a link that another user made.
    case foreignLink
    /// The path of a subdirectory belongs to a link or to a file.
    case notDirectory
    /// The run has written the file for another source.
    case taken
    /// Another process is updating the file, or has changed it since it was read.
    case changed
    /// The file is compressed and cannot be updated in place.
    case compressed
  }

  /// The step that failed.
  var action: Action
  /// The file or the directory.
  var path: String
  /// The reason for the failure.
  var cause: Cause

  /// Creates an error from its parts.
  init(_ action: Action, _ path: String, _ cause: Cause) {
    (self.action, self.path, self.cause) = (action, path, cause)
  }

  /// Creates an error for a system call that failed with the `errno` value `code`.
  init(action: Action, path: String, code: Int32) { self.init(action, path, .system(code)) }

  /// The `errno` value; nil if no system call failed.
  var code: Int32? { if case .system(let code) = cause { code } else { nil } }

  /// True if every further file will fail too: the disk is full, read-only or broken. Ends the command with status 74.
  var isFatal: Bool { code.map([ENOSPC, EDQUOT, EROFS, EIO].contains) ?? false }

  /// True if the same write may succeed later, because the fault is in the system and not in the file.
  private var isPassing: Bool { isFatal || code.map([EFBIG, EMFILE, ENFILE, ENOMEM, EAGAIN].contains) ?? false }

  /// True if the reader of the pipe has closed it.
  var isBrokenPipe: Bool { code == EPIPE }

  /// The failure code of a row that fails with this error.
  var failureCode: FailureCode {
    switch cause {
    case .system: isPassing ? .outputUnavailable : .outputFailed
    case .foreignLink, .notDirectory: .outputFailed
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
    case .notOwn: "\(path) exists and was not made by thumbs; --overwrite replaces it."
    case .foreignLink: "\(path) is a link of another user, which is not followed."
    case .notDirectory: "\(path) is a link or a file, not a directory; remove it, or change --name-template."
    case .reserved(let role): "\(path) is \(role), which this run never replaces."
    case .taken: "\(path) holds the thumbnail of another source; use {index} or {hash} in --name-template."
    case .changed: "\(path) was changed by another process and is left unchanged."
    case .compressed: "\(path) is compressed and cannot be updated; write the new report to another file with --report."
    }
  }
}
