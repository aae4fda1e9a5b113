import Foundation
import GRDB

/// A failure of the disk tier. Fetching continues without it; only inspection and maintenance throw it.
public struct DiskCacheError: Error, Hashable, Sendable {
  /// The cause, stable across versions.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// There is no cache in the directory.
    case noCache = "no_cache"
    /// Another process held the lock for too long.
    case busy
    /// A file of the cache is damaged. The next write starts a new generation.
    case corrupt
    /// The cache was created by a newer version of this library.
    case newerSchema = "newer_schema"
    /// The directory is on a file system with unreliable locks.
    case networkFileSystem = "network_file_system"
    /// The disk or the quota is full.
    case diskFull = "disk_full"
    /// Any other system failure, such as missing permissions, a deleted directory or a broken disk.
    case io = "io_error"
  }

  /// The cause.
  public var code: Code
  /// One sentence for people.
  public var message: String
  /// True if the cause stays until somebody ends it, such as missing permissions: the cache is off for the whole run.
  let isLasting: Bool

  /// Creates an error with a code and a message.
  public init(_ code: Code, _ message: String) {
    self.init(code, message, isLasting: code == .newerSchema || code == .networkFileSystem)
  }

  init(_ code: Code, _ message: String, isLasting: Bool) {
    (self.code, self.message, self.isLasting) = (code, message, isLasting)
  }
}

extension DiskCacheError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension DiskCacheError {
  /// Creates the error of a failed system call on `path` from `errno`.
  init(systemCall: String, path: String) {
    let number = errno
    self.init(number, "\(systemCall) \(path): \(String(cString: strerror(number)))")
  }

  /// Creates the error with `message` that the `errno` value `number` caused.
  init(_ number: Int32, _ message: String) {
    let isLasting = [EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP].contains(number)
    self.init([ENOSPC, EDQUOT, EFBIG].contains(number) ? .diskFull : .io, message, isLasting: isLasting)
  }

  /// Translates an error from SQLite.
  init(_ error: any Error) {
    switch error {
    case let error as DiskCacheError: self = error
    case let error as DatabaseError where Self.mayBeTooLarge(error):
      self.init(.diskFull, "A file of the cache would exceed the largest size allowed (ulimit -f).")
    case let error as DatabaseError: self.init(Self.code(of: error.resultCode), error.message ?? "\(error)")
    default: self.init(.io, "\(error)")
    }
  }

  /// True if the limit of file sizes is the probable cause of a failed write. SQLite reports it like any other.
  private static func mayBeTooLarge(_ error: DatabaseError) -> Bool {
    var limit = rlimit()
    return writes.contains(error.extendedResultCode)
      && getrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0 && limit.rlim_cur < .max
  }

  private static let writes: [ResultCode] = [
    .SQLITE_IOERR_WRITE, .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMOPEN,
  ]

  private static func code(of result: ResultCode) -> Code {
    switch result {
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
    case .SQLITE_FULL: .diskFull
    // The statements are known to be valid, so an error in one means that a table is damaged.
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA:
      .corrupt
    default: .io
    }
  }
}
