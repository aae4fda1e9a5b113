import ArgumentParser
import Synchronization

/// A report as a table for spreadsheets: a header row and a row per item, with the texts of the JSON Lines form.
///
/// CSV is as Excel reads it: a byte-order mark, commas, quotes where they are needed, and CR LF (RFC 4180). A text that
/// a spreadsheet would take for a formula gets an apostrophe in front.
struct ReportTable: Hashable, Sendable {
  /// The formats, by their file extensions.
  enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
    case csv, tsv

    /// The format for the name of a file; nil for a report in JSON Lines.
    init?(path: String) {
      self.init(rawValue: path.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased() ?? "")
    }
  }

  /// The names of the columns.
  private static let columns = [
    "index", "status", "origin", "code", "message", "url", "name", "files", "width", "height", "bytes",
    "source_width", "source_height", "source_format", "source_bytes", "sha256", "line", "manifest", "http", "attempts",
    "download_ms", "final_url",
  ]

  /// The first bytes of every table.
  static let starts = Format.allCases.map { Array(ReportTable(format: $0).header.prefix(20)) }

  let format: Format

  /// The header row.
  var header: [UInt8] { (format == .csv ? [0xEF, 0xBB, 0xBF] : []) + line(Self.columns) }

  /// Returns the row of a line of a report; nil if that is no row.
  func row(of line: [UInt8]) -> [UInt8]? {
    guard let row = (try? JSONDocument.parse(line)) as? [String: Any], row["index"] != nil else { return nil }
    let outputs = row["outputs"] as? [[String: Any]] ?? []
    let source = row["source"] as? [String: Any] ?? [:]
    let bytes = outputs.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) }
    let files = outputs.compactMap { $0["path"] as? String }.joined(separator: " | ")
    let start = ["index", "status", "origin", "code", "message", "url", "name"].map { row[$0] }
    let middle = [files, outputs.first?["width"], outputs.first?["height"], outputs.isEmpty ? nil : bytes] as [Any?]
    let end = ["width", "height", "format", "bytes", "sha256"].map { source[$0] }
    let others = ["line", "manifest", "http", "attempts"].map { row[$0] }
    let last = [(row["ms"] as? [String: Any])?["download"], row["finalURL"]]
    return self.line((start + middle + end + others + last).map(Self.text))
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case let text as String: text.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false ? "'" + text : text
    case let number as Int: "\(number)"
    default: ""
    }
  }

  private func line(_ fields: [String]) -> [UInt8] {
    switch format {
    case .csv: Array((fields.map(Self.quoted).joined(separator: ",") + "\r\n").utf8)
    case .tsv: Array((fields.map(Self.inOneLine).joined(separator: "\t") + "\n").utf8)
    }
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  private static func inOneLine(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
  }
}

/// Writes the report as a table, in the order in which rows end. A run that was interrupted leaves the rows so far.
final class ReportTableWriter: ReportOutput {
  private let file: NamedFile
  private let table: ReportTable
  private let failure = Mutex<OutputError?>(nil)

  /// Creates a writer to `file`.
  init(_ file: NamedFile, _ format: ReportTable.Format) { (self.file, table) = (file, ReportTable(format: format)) }

  func begin() {
    file.empty()
    try? write(table.header)
  }

  func append(_ line: ReportLine, position: Int) throws(OutputError) { try write(table.row(of: line.json) ?? []) }

  /// A header row that could not be written is an error of a run without rows, too.
  func finish(_ coverage: Coverage, of list: ListEnd?) throws(OutputError) { try write([]) }

  private func write(_ bytes: [UInt8]) throws(OutputError) {
    try failure.withLock { failure throws(OutputError) in
      if let failure { throw failure }
      do throws(OutputError) {
        try FileDescriptor.write(bytes[...], to: file.descriptor, path: file.name)
      } catch {
        failure = error
        throw error
      }
    }
  }
}

/// `thumbs report export`: prints a report as a table.
struct ReportExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print a report as a table for a spreadsheet.",
    discussion: """
      Several files of a row are in one field, separated by ' | '; width and height are those of the first one.

      Examples:
        thumbs report export report.jsonl > report.csv
        thumbs report export --format tsv report.jsonl
      """)

  @OptionGroup var argument: ReportArgument

  @Option(help: "Format of the table. (default: csv)")
  var format = ReportTable.Format.csv

  func run() throws {
    let table = ReportTable(format: format)
    try write(table.header)
    var failure: (any Error)?
    try argument.forEach { line in
      guard failure == nil else { return }
      do { try write(table.row(of: line.bytes) ?? []) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func write(_ bytes: [UInt8]) throws {
    do throws(OutputError) {
      try FileDescriptor.write(bytes[...], to: 1, path: "standard output")
    } catch {
      throw error.isBrokenPipe ? ExitCode.success : ExitCode.ioError.printing(error)
    }
  }
}
