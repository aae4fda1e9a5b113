import BatchFetch
import Glibc
import ImageCache

/// The rows of a report to retry. Keeps only these rows in memory.
struct RetryReport: Sendable {
  /// The failures to retry. Canceled rows are always retried.
  enum Choice: Hashable, Sendable {
    /// Only transient failures.
    case retryable
    /// All failures.
    case allFailed
  }

  /// The maximum length of a report line in bytes: room for the longest line of a manifest with every byte escaped.
  static let longestLine = 16 * LineReader.longestLine

  /// The rows to retry, in the order of the report.
  private(set) var rows: [PlannedRow] = []
  /// The line numbers of ``rows``, from 1, in the same order.
  private(set) var lineNumbers: [Int] = []
  /// The numbers of the lines that are not rows: the end of a partial report, and an incomplete last line.
  private(set) var otherLines: Set<Int> = []
  /// The version of the file that was read; nil for a pipe.
  private(set) var version: FileVersion?
  /// True if rows of the run are missing: the report says so, or ends in the middle of a line.
  private(set) var isPartial = false
  /// The distinct output directories of ``rows``.
  private(set) var directories: [String] = []
  private var doneCount = 0
  private var failedCount = 0
  private let choice: Choice
  private let fields: Set<String>

  /// Reads the report at `path`, which may be compressed with gzip.
  ///
  /// - Parameters:
  ///   - path: The path; `-` is standard input.
  ///   - choice: The failures to retry.
  ///   - fields: The names, in lower case, of the header fields that every request gets.
  init(path: String, choice: Choice, fields: Set<String> = []) throws(ManifestError) {
    // Before reading: the version then also detects changes made while the report is read.
    let version = path == "-" ? FileVersion(descriptor: STDIN_FILENO) : FileVersion(path: path)
    try self.init(LineReader(.open(path).unpacked(), longestLine: Self.longestLine), choice: choice, fields: fields)
    self.version = version
  }

  /// Reads a report. Any unrecognized line rejects the whole report, except for a last line without a line feed: the
  /// run was killed while writing it, so it is skipped.
  init(_ reader: LineReader, choice: Choice, fields: Set<String> = []) throws(ManifestError) {
    var reader = reader
    self.choice = choice
    self.fields = fields
    while let line = try reader.next() {
      guard let bytes = line.bytes else { throw ManifestError(reader.name, at: .line(line.number), "is too long") }
      if bytes.allSatisfy({ $0 == 0x20 }) { continue }
      do throws(DocumentFlaw) {
        try take(JSONDocument.parse(bytes), number: line.number, of: reader.name)
      } catch {
        guard line.isEnded || line.number == 1 else {
          isPartial = true
          otherLines.insert(line.number)
          break
        }
        throw ManifestError(reader.name, at: .line(line.number), "not a report line: \(error.reason)")
      }
    }
  }

  /// One or two sentences for people: the number of rows to retry, and of those left alone.
  var introduction: String {
    let tried = rows.isEmpty ? "Nothing to retry" : "Retrying \(Self.rows(rows.count))"
    let failed = failedCount == 0 ? "" : ", \(failedCount) failed permanently (retry with --all-failed)"
    let text = "\(tried): \(Self.rows(doneCount)) \(doneCount == 1 ? "is" : "are") done\(failed)."
    guard isPartial else { return text }
    return text + " The report does not contain every row of its run: run thumbs fetch again for the rest."
  }

  private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }

  private mutating func take(_ object: Any, number: Int, of name: String) throws(DocumentFlaw) {
    if let object = object as? [String: Any], object["complete"] as? Bool == false {
      isPartial = true
      otherLines.insert(number)
      return
    }
    let line = try RetryLine(object)
    switch line.fate {
    case .done: doneCount += 1
    case .failed where choice == .retryable: failedCount += 1
    case .failed, .retryable:
      if let directory = line.again?.directory, !directories.contains(directory) { directories.append(directory) }
      lineNumbers.append(number)
      do throws(RowFlaw) {
        rows.append(try line.row(fields: fields))
      } catch {
        rows.append(line.badRow("\(name), line \(number): \(error.reason)."))
      }
    }
  }
}
