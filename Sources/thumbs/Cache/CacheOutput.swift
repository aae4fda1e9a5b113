import ArgumentParser
import BatchFetch
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

/// The options for the output format.
struct CacheFormatOptions: ParsableArguments {
  @Option(help: "Output format.") var format: CacheOutputFormat?
  @Flag(help: "Same as --format json.") var json = false

  /// The chosen format; a table by default.
  var chosen: CacheOutputFormat { format ?? (json ? .json : .table) }

  func validate() throws {
    if json, let format, format != .json {
      throw ValidationError("--json and --format \(format.rawValue) cannot be used together.")
    }
  }
}

/// The option of commands whose output for people is a sentence.
struct JSONOption: ParsableArguments {
  @Flag(help: "Print a JSON object.") var json = false

  /// Prints `record` or `text`.
  func print(_ record: some Encodable, or text: @autoclosure () -> String) throws {
    Swift.print(json ? try CacheText.json(record) : text())
  }
}

/// The JSON object of a command that removes sources. Fields may be added; existing ones do not change.
struct RemovalRecord: Encodable {
  let dryRun: Bool
  /// The number of sources that were removed, or would be.
  let sources: Int
  /// Their size; absent if it is unknown.
  let bytes: Int?

  /// `Removed 3 sources, 20.00 KiB.`
  var text: String {
    let size = bytes.map { ", \(CacheText.size($0))" } ?? ""
    return "\(dryRun ? "Would remove" : "Removed") \(CacheText.sources(sources))\(size)."
  }
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

  /// Returns `1 source`, `2,000 sources`.
  static func sources(_ count: Int) -> String { count == 1 ? "1 source" : "\(count.grouped) sources" }

  /// Describes the limit of a cache: `64.00 MiB`, or which one runs apply if none is stored.
  static func limit(_ stored: Int?, applied: Int) -> String {
    stored.map(size) ?? "none stored; runs apply \(size(applied)), or their --cache-size"
  }

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
