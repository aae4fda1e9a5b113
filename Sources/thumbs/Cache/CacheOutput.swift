import ArgumentParser
import Foundation
import ImageCache

/// How a command shows what it found.
enum CacheOutputFormat: String, CaseIterable, ExpressibleByArgument {
  /// Columns for people.
  case table
  /// One JSON document.
  case json
  /// One JSON object a line.
  case jsonl
  /// Tab-separated values with a header line.
  case tsv
}

/// The texts that the cache's commands share.
enum CacheText {
  /// `1.50 GiB`, in powers of 1024.
  static func size(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(bytes) B" }
    var (value, unit) = (Double(bytes) / 1024, 0)
    let units = ["KiB", "MiB", "GiB", "TiB"]
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    return String(format: "%.2f %@", value, units[unit])
  }

  /// `1 source`, `2 sources`.
  static func sources(_ count: Int) -> String { count == 1 ? "1 source" : "\(count) sources" }

  /// RFC 3339, in UTC.
  static func time(_ date: Date) -> String { date.formatted(.iso8601) }

  /// A URL without what may be secret in it: user, password and query.
  static func redacted(_ url: String) -> String {
    let parts = Redaction.url(url).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 ? parts[0] + "?…" : String(parts[0])
  }

  /// One line of JSON with sorted keys, which are the names of the properties; times in RFC 3339.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return String(decoding: try encoder.encode(value), as: UTF8.self).printableJSON
  }

  /// A field of a table or of tab-separated values: nothing in it breaks a line, a column or a terminal.
  static func field(_ text: String) -> String { text.printable }
}

/// Prints a line, or several, to standard error.
func printToStandardError(_ line: String) {
  FileHandle.standardError.write(Data((line.printableLines + "\n").utf8))
}
