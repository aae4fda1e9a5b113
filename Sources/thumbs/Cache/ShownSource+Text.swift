import Foundation
import ImageCache

extension ShownSource {
  /// Returns the source in a format.
  func text(_ format: CacheOutputFormat) throws -> String {
    switch format {
    case .table: table
    case .json, .jsonl: try CacheText.json(self)
    case .tsv: separated
    }
  }

  /// The source as lines for people.
  private var table: String {
    var lines = ["\(key)  \(url)"]
    if let finalURL { lines.append("  final URL    \(finalURL)") }
    lines.append("  response     \(status), \(content)")
    lines.append("  state        \(state), last used \(CacheText.time(lastUsed))")
    for thumbnail in thumbnails {
      let spec = thumbnail.spec.padding(toLength: max(11, thumbnail.spec.count), withPad: " ", startingAt: 0)
      let size = "\(thumbnail.width)x\(thumbnail.height)"
      lines.append("  thumbnail    \(spec)  \(size) \(thumbnail.format), \(CacheText.size(thumbnail.bytes))")
    }
    if let placeholder {
      lines.append("  placeholder  \(placeholder.thumbhash)\(placeholder.color.map { ", " + $0 } ?? "")")
    }
    return (lines + (explanation?.lines ?? [])).map(CacheText.field).joined(separator: "\n")
  }

  private var content: String {
    if let code { return "\(code): \(message ?? "")" }
    return "\(format ?? "") \(width ?? 0)x\(height ?? 0), \(CacheText.size(sourceBytes ?? 0))"
  }

  /// The source as tab-separated values: a line of names and a line of values.
  private var separated: String {
    let columns: [(String, String)] = [
      ("key", key), ("state", state), ("status", "\(status)"), ("bytes", "\(bytes)"),
      ("lastUsed", CacheText.time(lastUsed)), ("thumbnails", thumbnails.map(\.spec).joined(separator: ",")),
      ("code", code ?? ""), ("url", url),
    ]
    return [columns.map(\.0), columns.map { CacheText.field($0.1) }].map { $0.joined(separator: "\t") }.joined(
      separator: "\n")
  }
}

extension ShownSource.Explanation {
  fileprivate var lines: [String] {
    let headers = [
      cacheControl.map { "Cache-Control: \($0)" }, etag.map { "ETag: \($0)" },
      lastModified.map { "Last-Modified: \($0)" }, vary.map { "Vary: \($0)" },
    ]
    return [
      "  received     \(CacheText.time(respondedAt)), age \(age) s of \(lifetime) s (\(basis))",
      "  fresh until  \(freshUntil.map(CacheText.time) ?? "never; revalidated on every use")",
      "  on errors    \(staleOnErrorUntil.map { "served stale until " + CacheText.time($0) } ?? "never served stale")",
      "  headers      \(headers.compactMap { $0 }.joined(separator: "; "))",
      "  a request now would \(next)",
    ]
  }
}
