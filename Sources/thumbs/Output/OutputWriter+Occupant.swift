import Glibc
import ImageCache

extension OutputWriter {
  /// The thing at the path of a file to write.
  enum Occupant: Hashable {
    /// Nothing.
    case nothing
    /// A file with the expected bytes.
    case same
    /// Another thumbnail made by `thumbs`.
    case thumbnail
    /// A file with another purpose in this run.
    case reserved(FileRole)
    /// A file of another program, a link or a pipe.
    case other
  }

  /// Returns what is at `place`. Neither reads through a link nor waits for a pipe.
  func occupant(of place: borrowing OutputPlace, expecting bytes: [UInt8]) throws(OutputError) -> Occupant {
    var status = stat()
    guard place.name.withCString({ fstatat(place.directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
      if errno == ENOENT { return .nothing }
      throw place.failure
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return try occupant(of: place, expecting: bytes, status)
    case S_IFDIR: throw OutputError(action: .write, path: place.path, code: EISDIR)
    default: return role(ofTarget: place).map(Occupant.reserved) ?? .other
    }
  }

  private func occupant(
    of place: borrowing OutputPlace, expecting bytes: [UInt8], _ status: stat
  ) throws(OutputError) -> Occupant {
    let file = place.name.withCString { openat(place.directory, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    defer { if file >= 0 { close(file) } }
    // Running out of descriptors, for example, does not mean that the file is another program's.
    if file < 0, errno != EACCES { throw place.failure }
    if file >= 0, status.st_size == bytes.count, FileDescriptor.reads(bytes, from: file) { return .same }
    if let role = FileIdentity(status).flatMap({ reserved.role(of: $0) }) { return .reserved(role) }
    return file >= 0 && isThumbnail(file, status) ? .thumbnail : .other
  }

  /// Returns the role of the file that a link leads to. The run may reach that file only through the link.
  private func role(ofTarget place: borrowing OutputPlace) -> FileRole? {
    var target = stat()
    guard fstatat(place.directory, place.name, &target, 0) == 0 else { return nil }
    return FileIdentity(target).flatMap { reserved.role(of: $0) }
  }

  private func isThumbnail(_ file: Int32, _ status: stat) -> Bool {
    // The first and the last bytes rule out most other files, which then need not be read.
    let count = Int(status.st_size)
    let length = min(count, ThumbnailMark.endLength)
    guard lseek(file, 0, SEEK_SET) == 0, let prefix = FileDescriptor.contents(of: file, count: length),
      lseek(file, off_t(-length), SEEK_END) >= 0, let suffix = FileDescriptor.contents(of: file, count: length),
      ThumbnailMark.mayBePresent(inFileStartingWith: prefix, endingWith: suffix),
      lseek(file, 0, SEEK_SET) == 0, let bytes = FileDescriptor.contents(of: file, count: count)
    else { return false }
    return ThumbnailMark.isPresent(in: bytes)
  }
}
