import ArgumentParser
import Foundation
import ImageCache

/// The output format of a cache command.
enum CacheOutputFormat: String, CaseIterable, ExpressibleByArgument {
  /// Columns for people.
  case table
  /// One JSON document.
  case json
  /// One JSON object per line.
  case jsonl
  /// Tab-separated values with a header line.
  case tsv
}

/// Text formatting shared by the cache commands.
enum CacheText {
  /// Formats a size as `1.50 GiB`, in powers of 1024.
  static func size(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(bytes) B" }
    var (value, unit) = (Double(bytes) / 1024, 0)
    let units = ["KiB", "MiB", "GiB", "TiB"]
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    return String(format: "%.2f %@", value, units[unit])
  }

  /// Returns `1 source`, `2 sources`.
  static func sources(_ count: Int) -> String { count == 1 ? "1 source" : "\(count) sources" }

  /// Formats a time in UTC according to RFC 3339.
  static func time(_ date: Date) -> String { date.formatted(.iso8601) }

  /// Hides the parts of a URL that may be secret: user, password and query.
  static func redacted(_ url: String) -> String {
    let parts = Redaction.url(url).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 ? parts[0] + "?…" : String(parts[0])
  }

  /// Encodes `value` as one line of JSON. Keys are the property names, sorted; times are in RFC 3339.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return String(decoding: try encoder.encode(value), as: UTF8.self).printableJSON
  }

  /// Makes `text` safe for a table or tab-separated values: without tabs, line breaks and control characters.
  static func field(_ text: String) -> String { text.printable }
}

/// Prints one or several lines to standard error.
func printToStandardError(_ line: String) {
  FileHandle.standardError.write(Data((line.printableLines + "\n").utf8))
}
