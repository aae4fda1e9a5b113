import Glibc
import Synchronization

extension OutputWriter {
  /// Replaces the contents of the file `name` with what `body` writes to a descriptor. On an error, the file keeps its
  /// old contents.
  func replace(_ name: String, _ body: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    _ = try fill(name, onlyIfFree: false, body)
  }

  /// Writes a temporary file and renames it to `name`. Returns false if `onlyIfFree` is set and the name is taken.
  func fill(
    _ name: String, onlyIfFree: Bool, _ body: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) -> Bool {
    let (file, temporary) = try createTemporary()
    do throws(OutputError) {
      try close(file, of: name, after: body)
      if try rename(temporary, to: name, onlyIfFree: onlyIfFree) { return true }
      unlinkat(descriptor, temporary, 0)
      return false
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw error
    }
  }

  private func rename(_ temporary: String, to name: String, onlyIfFree: Bool) throws(OutputError) -> Bool {
    if onlyIfFree {
      // Another process may create the file at any moment. `linkat` fails if the name is taken; a rename would replace
      // that file.
      if linkat(descriptor, temporary, descriptor, name, 0) == 0 {
        unlinkat(descriptor, temporary, 0)
        return true
      }
      if errno == EEXIST { return false }
      // On a file system without hard links, the check before this call has to suffice.
    }
    guard renameat(descriptor, temporary, descriptor, name) == 0 else { throw failure(name) }
    return true
  }

  /// Fills and closes `file`. An error of `close` counts too: network file systems report an exceeded quota there.
  private func close(
    _ file: Int32, of name: String, after fill: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) {
    do throws(OutputError) {
      try fill(file)
    } catch {
      Glibc.close(file)
      throw error
    }
    if Glibc.close(file) != 0 { throw failure(name) }
  }

  /// Creates a temporary file and locks it.
  func createTemporary() throws(OutputError) -> (descriptor: Int32, name: String) {
    while true {
      let number = temporaries.add(1, ordering: .relaxed).newValue
      let name = "\(TemporaryName(process: getpid(), number: number))"
      let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
      if file >= 0 {
        // The lock tells a run that removes leftovers, and cannot see this process, that the file is in use.
        flock(file, LOCK_SH | LOCK_NB)
        return (file, name)
      }
      // The name may be taken by a leftover of a killed process that had the same process ID.
      if errno != EEXIST { throw OutputError(action: .create, path: path(name), code: errno) }
    }
  }
}
