import Synchronization

/// The files that a run reads, and the output files that the command line names. Thumbnails never replace them, not
/// even with `--overwrite`.
final class ReservedFiles: Sendable {
  private let roles = Mutex<[FileIdentity: FileRole]>([:])

  /// Reserves the file. If it has a role already, it keeps that role.
  func insert(_ file: FileIdentity, as role: FileRole) {
    roles.withLock { $0[file] = $0[file] ?? role }
  }

  /// Releases the file if it has this role.
  func remove(_ file: FileIdentity, as role: FileRole) {
    roles.withLock { if $0[file] == role { $0[file] = nil } }
  }

  /// Returns the role of the file; nil if it is not reserved.
  func role(of file: FileIdentity) -> FileRole? { roles.withLock { $0[file] } }
}
