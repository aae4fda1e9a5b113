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

/// A kind of file, other than a thumbnail, that `thumbs` writes. Files of earlier runs are recognized by their first
/// bytes.
enum GeneratedFile: Hashable, Sendable {
  case report, summary, gallery, metrics

  /// The kind of file with this role; nil for files that are read.
  init?(_ role: FileRole) {
    switch role {
    case .report: self = .report
    case .summary: self = .summary
    case .gallery: self = .gallery
    case .metrics: self = .metrics
    case .manifest, .retriedReport, .hosts, .fallback, .setting, .configuration, .authorities, .source: return nil
    }
  }

  /// Returns true if `output` may be replaced: it is empty, is not a regular file, or was written by `thumbs` for the
  /// same purpose. False if its path names another file by now.
  func mayReplace(_ output: NamedFile) -> Bool {
    guard let path = output.path, let identity = output.identity else { return true }
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    guard file >= 0, FileIdentity(descriptor: file) == identity else { return false }
    var start = [UInt8](repeating: 0, count: 2048)
    let count = read(file, &start, start.count)
    return count == 0 || count > 0 && recognizes(start[..<count])
  }

  /// Returns true if a file of this kind may begin with `start`: a report with a row's index or the end of a report
  /// without rows, a gallery with a page that names its generator, metrics with the first one by name.
  private func recognizes(_ start: ArraySlice<UInt8>) -> Bool {
    switch self {
    case .report:
      // A digit must follow: Elasticsearch's bulk files begin with `{"index":{`.
      start.starts(with: "{\"index\":".utf8) && start.dropFirst(9).first.map { (0x30...0x39).contains($0) } ?? false
        || start.starts(with: "{\"complete\":".utf8) || ReportTable.starts.contains { start.starts(with: $0) }
    case .summary: start.starts(with: "{\"version\":1,\"exit\":".utf8)
    case .metrics: start.starts(with: "# HELP thumbs_".utf8)
    case .gallery:
      start.starts(with: "<!DOCTYPE html>".utf8) && start.contains("<meta name=generator content=thumbs>".utf8)
    }
  }
}

/// The name of a temporary file that is being written: `.thumbs-PID-N.tmp`.
struct TemporaryName: Hashable, Sendable {
  static let prefix = ".thumbs-"

  /// The process that writes the file.
  var process: pid_t
  /// The number of the file within that process.
  var number: Int
}

extension TemporaryName: LosslessStringConvertible {
  var description: String { "\(Self.prefix)\(process)-\(number).tmp" }

  /// Parses a name; nil if it is not that of a temporary file.
  init?(_ name: String) {
    guard name.hasPrefix(Self.prefix), name.hasSuffix(".tmp") else { return nil }
    let parts = name.dropFirst(Self.prefix.count).dropLast(4).split(separator: "-")
    guard parts.count == 2, let process = pid_t(parts[0]), process > 0, let number = Int(parts[1]) else { return nil }
    (self.process, self.number) = (process, number)
    guard description == name else { return nil }
  }

  /// True if the process is running, even as another user.
  var isOwnerAlive: Bool { kill(process, 0) == 0 || errno != ESRCH }
}
