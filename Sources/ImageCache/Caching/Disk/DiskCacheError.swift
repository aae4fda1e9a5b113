import Foundation
import GRDB

/// Why the disk tier could not do something. Fetching goes on without it; only inspection shows these as failures.
public struct DiskCacheError: Error, Hashable, Sendable {
  /// The cause, stable across versions.
  public enum Code: String, CaseIterable, Hashable, Sendable {
    /// There is no cache at this place.
    case noCache = "no_cache"
    /// Another process held the cache for too long.
    case busy
    /// A file of the cache is not what it should be. The next write starts a new generation.
    case corrupt
    /// A newer version of this library made the cache.
    case newerSchema = "newer_schema"
    /// The directory is on a file system whose locks cannot be trusted.
    case networkFileSystem = "network_file_system"
    /// The disk or the quota is full.
    case diskFull = "disk_full"
    /// Any other failure of the system: permissions, a vanished directory, a broken disk.
    case io = "io_error"
  }

  /// The cause.
  public var code: Code
  /// One sentence for a person.
  public var message: String

  /// An error of `code`, explained by `message`.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension DiskCacheError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension DiskCacheError {
  /// The error of a system call on `path`, from `errno`.
  init(systemCall: String, path: String) {
    let number = errno
    let isFull = number == ENOSPC || number == EDQUOT
    self.init(isFull ? .diskFull : .io, "\(systemCall) \(path): \(String(cString: strerror(number)))")
  }

  /// What an error of SQLite means for the cache.
  init(_ error: any Error) {
    switch error {
    case let error as DiskCacheError: self = error
    case let error as DatabaseError: self.init(Self.code(of: error.resultCode), error.message ?? "\(error)")
    default: self.init(.io, "\(error)")
    }
  }

  private static func code(of result: ResultCode) -> Code {
    switch result {
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
    case .SQLITE_FULL: .diskFull
    // The statements are right, so a table that is missing or odd is a damaged one.
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA:
      .corrupt
    default: .io
    }
  }
}
