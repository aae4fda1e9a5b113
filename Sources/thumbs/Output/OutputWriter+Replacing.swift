import Glibc
import Synchronization

extension OutputWriter {
  /// Replaces the contents of the file `name` with what `body` writes to a descriptor. On an error, the file keeps its
  /// old contents.
  func replace(_ name: String, _ body: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    _ = try fill(try place(of: name), onlyIfFree: false, body)
  }

  /// Removes the file `name` if it contains exactly `bytes`, and has no other purpose in this run.
  func remove(_ name: String, containing bytes: [UInt8]) throws(OutputError) {
    let place = try place(of: name)
    guard try occupant(of: place, expecting: bytes) == .same, !isReserved(place) else { return }
    if unlinkat(place.directory, place.name, 0) != 0, errno != ENOENT { throw place.failure }
  }

  /// Returns true if `name` is a file of `length` bytes.
  func contains(_ name: String, length: Int) -> Bool {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFREG && Int(status.st_size) == length
  }

  private func isReserved(_ place: borrowing OutputPlace) -> Bool {
    var status = stat()
    guard fstatat(place.directory, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return FileIdentity(status).map { reserved.role(of: $0) != nil } ?? false
  }

  /// Writes a temporary file and renames it to `place`. Returns false if `onlyIfFree` is set and the name is taken.
  func fill(
    _ place: borrowing OutputPlace, onlyIfFree: Bool, _ body: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) -> Bool {
    let (file, temporary) = try createTemporary()
    do throws(OutputError) {
      try close(file, of: place, after: body)
      if try rename(temporary, to: place, onlyIfFree: onlyIfFree) { return true }
      unlinkat(descriptor, temporary, 0)
      return false
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw error
    }
  }

  private func rename(
    _ temporary: String, to place: borrowing OutputPlace, onlyIfFree: Bool
  ) throws(OutputError) -> Bool {
    if onlyIfFree {
      // Another process may create the file at any moment. `linkat` fails if the name is taken; a rename would replace
      // that file.
      if linkat(descriptor, temporary, place.directory, place.name, 0) == 0 {
        unlinkat(descriptor, temporary, 0)
        return true
      }
      if errno == EEXIST { return false }
      // On a file system without hard links, the check before this call has to suffice.
    }
    guard renameat(descriptor, temporary, place.directory, place.name) == 0 else { throw place.failure }
    return true
  }

  /// Fills and closes `file`. An error of `close` counts too: network file systems report an exceeded quota there.
  private func close(
    _ file: Int32, of place: borrowing OutputPlace, after fill: (Int32) throws(OutputError) -> Void
  ) throws(OutputError) {
    do throws(OutputError) {
      try fill(file)
    } catch {
      Glibc.close(file)
      throw error
    }
    if Glibc.close(file) != 0 { throw place.failure }
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
