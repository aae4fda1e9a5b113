import Glibc

/// A kind of file that `thumbs` writes in addition to thumbnails. Its beginning tells a file of an earlier run from any
/// other file.
enum OwnFile: Hashable, Sendable {
  case report, summary, gallery

  /// The kind of file that has this role; nil for what is read.
  init?(_ role: FileRole) {
    switch role {
    case .report: self = .report
    case .summary: self = .summary
    case .gallery: self = .gallery
    case .manifest, .retriedReport, .source: return nil
    }
  }

  /// Whether the file at `path` may be replaced: it is not there, is empty, is no regular file, or was written by
  /// `thumbs` for the same purpose.
  func mayReplace(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return errno == ENOENT }
    defer { close(file) }
    guard FileIdentity(descriptor: file) != nil else { return true }
    var start = [UInt8](repeating: 0, count: 2048)
    let count = read(file, &start, start.count)
    return count == 0 || count > 0 && recognizes(start[..<count])
  }

  /// A report begins with the number of a row, or with its end; a page names the program that made it.
  private func recognizes(_ start: ArraySlice<UInt8>) -> Bool {
    switch self {
    case .report:
      // Elasticsearch's bulk files begin with `{"index":{`.
      start.starts(with: "{\"index\":".utf8) && start.dropFirst(9).first.map { (0x30...0x39).contains($0) } ?? false
        || start.starts(with: "{\"complete\":false".utf8)
    case .summary: start.starts(with: "{\"version\":1,\"exit\":".utf8)
    case .gallery:
      start.starts(with: "<!DOCTYPE html>".utf8) && start.contains("<meta name=generator content=thumbs>".utf8)
    }
  }
}
