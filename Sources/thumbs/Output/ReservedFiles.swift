import ArgumentParser
import BatchFetch
import Foundation
import Synchronization

/// The files that a run reads, and the output files that the command line names. Thumbnails never replace them, not
/// even with `--overwrite`.
final class ReservedFiles: Sendable {
  private let roles = Mutex<[FileIdentity: FileRole]>([:])
  /// The paths of the reserved directories.
  private let directories = Mutex<[String]>([])

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
    for url in row.urls { insert(sourceAt: url) }
  }

  /// Reserves the image at `url` if it is a local file.
  func insert(sourceAt url: String) {
    guard url.prefix(5).lowercased() == "file:", let path = (try? SourceURL(url))?.filePath,
      let file = FileIdentity(path: path)
    else { return }
    insert(file, as: .source)
  }

  /// Reserves everything below a directory of images if that is below the directory at `output`. Otherwise no thumbnail
  /// could get there: links are not followed.
  ///
  /// - Throws: A `ValidationError` if both are the same directory.
  func insert(_ directory: LocalArgument, output: String) throws {
    let path = Self.real(output)
    guard path != directory.path else {
      throw ValidationError(
        "The thumbnails of \(directory.name.printable) would be among its images; name another directory with -o.")
    }
    if Self.contains(path, directory.path) { directories.withLock { $0.append(directory.path) } }
  }

  /// Returns ``FileRole/source`` if the open `directory` is a reserved one, or is below one.
  func role(ofFilesIn directory: Int32) -> FileRole? {
    let reserved = directories.withLock { $0 }
    guard !reserved.isEmpty else { return nil }
    let path = Self.path(of: directory)
    return reserved.contains { $0 == path || Self.contains($0, path) } ? .source : nil
  }

  /// Returns the path of an open directory; empty if the system does not report it.
  private static func path(of directory: Int32) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(directory)", &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func contains(_ directory: String, _ path: String) -> Bool {
    path.hasPrefix(directory == "/" ? "/" : directory + "/")
  }

  /// Returns the path without links of a directory that may not exist yet.
  private static func real(_ path: String) -> String {
    if let real = path.resolvingLinks { return real }
    let parts = path.split(separator: "/")
    guard let last = parts.last else { return path }
    let parent = (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
    let base = real(parent.isEmpty ? "." : parent)
    return base == "/" ? "/\(last)" : "\(base)/\(last)"
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
