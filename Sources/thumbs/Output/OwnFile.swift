import Glibc

/// A kind of file, other than a thumbnail, that `thumbs` writes. Files of earlier runs are recognized by their first
/// bytes.
enum OwnFile: Hashable, Sendable {
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
        || start.starts(with: "{\"complete\":".utf8)
    case .summary: start.starts(with: "{\"version\":1,\"exit\":".utf8)
    case .metrics: start.starts(with: "# HELP thumbs_".utf8)
    case .gallery:
      start.starts(with: "<!DOCTYPE html>".utf8) && start.contains("<meta name=generator content=thumbs>".utf8)
    }
  }
}
