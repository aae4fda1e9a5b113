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

  /// Prepares to replace `file`. `workplace` is the directory of temporary files if it is not a regular file.
  init(_ file: NamedFile, workplace: String) throws(OutputError) {
    path = Self.target(of: file.name)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    directory = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/"
    name = parts.last.map(String.init) ?? path
    self.file = file
    self.workplace = file.identity == nil ? workplace : directory
    writer = try OutputWriter(directory: self.workplace)
  }

  /// Replaces the contents of the file with what `write` writes to a descriptor.
  func replace(_ write: (Int32) throws(OutputError) -> Void) throws(OutputError) {
    if file.identity == nil { try write(file.descriptor) } else { try writer.replace(name, write) }
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
