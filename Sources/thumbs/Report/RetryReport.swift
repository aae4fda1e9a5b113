import BatchFetch
import ImageCache

/// What a report says is to be tried again. Takes memory for these rows only.
struct RetryReport: Sendable {
  /// Which failures are tried again. Cancelled rows always are.
  enum Choice: Hashable, Sendable {
    /// Those that may pass.
    case retryable
    /// All of them.
    case allFailed
  }

  /// The rows to try, in the order of the report.
  private(set) var rows: [PlannedRow] = []
  /// The output directories of these rows, each once.
  private(set) var directories: [String] = []
  private var doneCount = 0
  private var failedCount = 0
  private let choice: Choice
  private let fields: Set<String>

  /// Reads the report at `path`, which may be compressed. `fields` are the header fields, in lower case, that every
  /// request gets.
  init(path: String, choice: Choice, fields: Set<String> = []) throws(ManifestError) {
    try self.init(LineReader(.open(path).unpacked()), choice: choice, fields: fields)
  }

  /// Reads a report. A line that is none of a report is an error: nothing is retried by halves.
  init(_ reader: LineReader, choice: Choice, fields: Set<String> = []) throws(ManifestError) {
    var reader = reader
    self.choice = choice
    self.fields = fields
    while let line = try reader.next() {
      guard let bytes = line.bytes else { throw ManifestError(reader.name, at: .line(line.number), "is too long") }
      if bytes.allSatisfy({ $0 == 0x20 }) { continue }
      do throws(DocumentFlaw) {
        take(try RetryLine(try JSONDocument.parse(bytes)), at: "\(reader.name), line \(line.number)")
      } catch {
        throw ManifestError(reader.name, at: .line(line.number), "not a line of a report: \(error.reason)")
      }
    }
  }

  /// What is left alone: `12 rows are done, 3 failed for good (--all-failed tries them)`.
  var skippedText: String {
    let failed = failedCount == 0 ? "" : ", \(failedCount) failed for good (--all-failed tries them)"
    return "\(doneCount) \(doneCount == 1 ? "row is" : "rows are") done\(failed)"
  }

  private mutating func take(_ line: RetryLine, at place: String) {
    switch line.fate {
    case .done: doneCount += 1
    case .failed where choice == .retryable: failedCount += 1
    case .failed, .retryable:
      if let directory = line.directory, !directories.contains(directory) { directories.append(directory) }
      do throws(RowFlaw) {
        rows.append(try line.row(fields: fields))
      } catch {
        let row = BadRow(index: line.index, line: line.line, name: line.name, reason: "\(place): \(error.reason).")
        rows.append(PlannedRow(entry: .bad(row)))
      }
    }
  }
}
