import BatchFetch
import Foundation
import Synchronization

/// The files that a run reads, and the output files that the command line names. Thumbnails never replace them, not
/// even with `--overwrite`.
final class ReservedFiles: Sendable {
  private let roles = Mutex<[FileIdentity: FileRole]>([:])

  /// Reserves the file. If it has a role already, it keeps that role.
  func insert(_ file: FileIdentity, as role: FileRole) {
    roles.withLock { $0[file] = $0[file] ?? role }
  }

  /// Releases the file if it has this role.
  func remove(_ file: FileIdentity, as role: FileRole) {
    roles.withLock { if $0[file] == role { $0[file] = nil } }
  }

  /// Returns the role of the file; nil if it is not reserved.
  func role(of file: FileIdentity) -> FileRole? { roles.withLock { $0[file] } }
}

// MARK: Sources

extension ReservedFiles {
  /// Reserves the local images that `row` names.
  func insert(sourcesOf row: ManifestRow) {
    for url in [row.url] + row.options.mirrors where url.prefix(5).lowercased() == "file:" {
      guard let path = Self.path(of: url), let file = FileIdentity(path: path) else { continue }
      insert(file, as: .source)
    }
  }

  private static func path(of url: String) -> String? {
    guard let source = try? SourceURL(url), source.scheme == .file else { return nil }
    return String(source.description.dropFirst("file://".count)).removingPercentEncoding
  }
}

/// The purpose of a file that a run reads or writes. Thumbnails never replace it.
enum FileRole: Hashable, Sendable {
  /// The manifest at this path; `-` is standard input.
  case manifest(String)
  /// The report to retry, at this path; `-` is standard input.
  case retriedReport(String)
  /// The file of `--hosts`.
  case hosts
  /// The file of `--fallback`.
  case fallback
  /// A file that the option of this name reads.
  case setting(String)
  /// The configuration file.
  case configuration
  /// The file with the certificate authorities of the system.
  case authorities
  /// A local image that a row names.
  case source
  /// The file of `--report`.
  case report
  /// The file of `--summary`.
  case summary
  /// The file of `--gallery`.
  case gallery
  /// The file of `--metrics`.
  case metrics
}

extension FileRole: CustomStringConvertible {
  /// `the manifest list.txt`, `the report`.
  var description: String {
    switch self {
    case .manifest("-"), .retriedReport("-"): "standard input"
    case .manifest(let path): "the manifest \(path)"
    case .retriedReport(let path): "the report to retry, \(path)"
    case .hosts: "the file of --hosts"
    case .fallback: "the file of --fallback"
    case .setting(let option): "a file that --\(option) reads"
    case .configuration: "the configuration file"
    case .authorities: "the file of certificate authorities"
    case .source: "a source image"
    case .report: "the report"
    case .summary: "the summary"
    case .gallery: "the gallery"
    case .metrics: "the metrics file"
    }
  }
}
