import Glibc

/// A file in the output directory or below it. Its directory is open, so that nobody can replace that by a link to
/// another one in the meantime.
struct OutputPlace: ~Copyable {
  /// The descriptor of the directory.
  let directory: Int32
  /// The name of the file in its directory.
  let name: String
  /// The path of the file, relative to the output directory.
  private let relativePath: String
  private let writer: OutputWriter

  /// Creates the place of the file `name` in `directory`, which is closed with this value unless it is that of
  /// `writer`.
  init(_ name: String, in directory: Int32, relativePath: String, of writer: OutputWriter) {
    (self.name, self.directory, self.relativePath, self.writer) = (name, directory, relativePath, writer)
  }

  deinit {
    if directory != writer.descriptor { close(directory) }
  }

  /// The path of the file for messages.
  var path: String { writer.path(relativePath) }

  /// The failure of the last system call.
  var failure: OutputError { OutputError(action: .write, path: path, code: errno) }
}

extension OutputWriter {
  /// Returns the place of the file `name`, a relative path. Creates the subdirectories that are missing. A link in
  /// place of a subdirectory is an error, because it may lead out of the directory.
  func place(of name: String) throws(OutputError) -> OutputPlace {
    guard name.utf8.contains(UInt8(ascii: "/")) else {
      return OutputPlace(name, in: descriptor, relativePath: name, of: self)
    }
    let names = FileNameText.components(of: name)
    if names.contains(where: ["", ".", ".."].contains) {
      throw OutputError(action: .write, path: path(name), code: EINVAL)
    }
    var directory = descriptor
    for (depth, part) in names.dropLast().enumerated() {
      let parent = directory
      defer { if parent != descriptor { close(parent) } }
      directory = try subdirectory(part, of: parent, path: names[...depth].joined(separator: "/"))
    }
    return OutputPlace(names[names.count - 1], in: directory, relativePath: name, of: self)
  }

  private func subdirectory(_ name: String, of directory: Int32, path: String) throws(OutputError) -> Int32 {
    while true {
      let file = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if file >= 0 { return file }
      switch errno {
      case ENOTDIR, ELOOP: throw OutputError(.create, self.path(path), .notDirectory)
      // Another thread or process may create the directory first.
      case ENOENT where mkdirat(directory, name, 0o777) == 0 || errno == EEXIST: continue
      default: throw OutputError(action: .create, path: self.path(path), code: errno)
      }
    }
  }
}
