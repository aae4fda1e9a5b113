import Synchronization

/// The files that a run reads, and those that it was told by name to write. No thumbnail takes the place of one, not even
/// with `--overwrite`.
final class ReservedFiles: Sendable {
  private let roles = Mutex<[FileIdentity: FileRole]>([:])

  /// Reserves the file, and keeps the first of several roles.
  func insert(_ file: FileIdentity, as role: FileRole) {
    roles.withLock { $0[file] = $0[file] ?? role }
  }

  /// What the run uses the file for; nil where it does not use it.
  func role(of file: FileIdentity) -> FileRole? { roles.withLock { $0[file] } }
}
