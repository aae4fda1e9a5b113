import Glibc

/// An output file that is replaced as a whole, by renaming a temporary file next to it. A pipe or a device is written
/// directly. Symbolic links are followed.
struct ReplacedFile: Sendable {
  /// The directory of temporary files: that of the file, because they could not be renamed from another one. Those of a
  /// device such as `/dev/stdout` are elsewhere.
  let workplace: String
  /// The directory of the file.
  let directory: String
  /// The path of the file, for messages.
  let path: String
  private let file: NamedFile
  private let name: String
  private let writer: OutputWriter
  private let role: FileRole
  private let reserved: ReservedFiles

  /// Prepares to replace `file`, which `reserved` contains as `role` whenever it is replaced. `workplace` is the
  /// directory of temporary files if it is not a regular file.
  init(
    _ file: NamedFile, workplace: String, as role: FileRole, in reserved: ReservedFiles
  ) throws(OutputError) {
    self.role = role
    self.reserved = reserved
    path = Self.target(of: file.name)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    directory = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/"
    name = parts.last.map(String.init) ?? path
    self.file = file
    self.workplace = file.identity == nil ? workplace : directory
    writer = try OutputWriter(directory: self.workplace)
  }

  /// False for a pipe or a device.
  var isRegular: Bool { file.identity != nil }

  /// Replaces the contents of the file with what `write` writes to a descriptor.
  func replace(_ write: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    guard isRegular else { return try write(file.descriptor) }
    let old = FileIdentity(path: path)
    try writer.replace(name) { descriptor throws(OutputError) in
      try write(descriptor)
      // The new file has another identity, and may be read or written under its name from the renaming on.
      if let new = FileIdentity(descriptor: descriptor) { reserved.insert(new, as: role) }
    }
    // The identity of the old file is free for any file, except for that of the first one, which is still open.
    if let old, old != file.identity { reserved.remove(old, as: role) }
  }

  /// Returns the target of `path` if it is a symbolic link, and `path` unchanged otherwise.
  private static func target(of path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let target = realpath(path, nil) else {
      return path
    }
    defer { free(target) }
    return String(cString: target)
  }
}
