import Glibc
import ImageCache

extension OutputWriter {
  /// The thing in the place of a file that is to be written.
  enum Occupant: Hashable {
    /// Nothing.
    case nobody
    /// A file with the expected bytes.
    case same
    /// Another thumbnail that `thumbs` made.
    case thumbnail
    /// A file that the run uses for something else.
    case reserved(FileRole)
    /// A file of another program, a link or a pipe.
    case other
  }

  /// Finds out about the place `name`. Neither follows a link to read it nor waits for a pipe.
  func occupant(of name: String, expecting bytes: [UInt8]) throws(OutputError) -> Occupant {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return .nobody }
      throw failure(name)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return try occupant(of: name, expecting: bytes, status)
    case S_IFDIR: throw OutputError(action: .write, path: path(name), code: EISDIR)
    default: return role(ofTarget: name).map(Occupant.reserved) ?? .other
    }
  }

  private func occupant(
    of name: String, expecting bytes: [UInt8], _ status: stat
  ) throws(OutputError) -> Occupant {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    // Too many open files, say, are no reason to take the file for somebody else's.
    if file < 0, errno != EACCES { throw failure(name) }
    if file >= 0, status.st_size == bytes.count, FileDescriptor.reads(bytes, from: file) { return .same }
    if let role = FileIdentity(status).flatMap({ reserved.role(of: $0) }) { return .reserved(role) }
    return file >= 0 && isThumbnail(file, status) ? .thumbnail : .other
  }

  /// The role of the file that a link leads to: without the link, the run would not find it any more.
  private func role(ofTarget name: String) -> FileRole? {
    var target = stat()
    guard fstatat(descriptor, name, &target, 0) == 0 else { return nil }
    return FileIdentity(target).flatMap { reserved.role(of: $0) }
  }

  private func isThumbnail(_ file: Int32, _ status: stat) -> Bool {
    // Most other files are told by their first bytes, and need not be read.
    let length = min(Int(status.st_size), ThumbnailMark.prefixLength)
    guard lseek(file, 0, SEEK_SET) == 0, let prefix = FileDescriptor.contents(of: file, count: length),
      ThumbnailMark.mayFollow(prefix),
      let rest = FileDescriptor.contents(of: file, count: Int(status.st_size) - length)
    else { return false }
    return ThumbnailMark.isPresent(in: prefix + rest)
  }
}
