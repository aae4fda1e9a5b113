import BatchFetch
import Foundation

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
