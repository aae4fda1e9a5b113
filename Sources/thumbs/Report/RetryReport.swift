import BatchFetch
import Glibc
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

  /// The longest line of a report, in bytes: room for the longest line of a manifest, with every byte escaped.
  static let longestLine = 16 * LineReader.longestLine

  /// The rows to try, in the order of the report.
  private(set) var rows: [PlannedRow] = []
  /// The numbers of their lines, from 1, in the same order.
  private(set) var lineNumbers: [Int] = []
  /// The numbers of lines that are no rows: one that says that rows are missing, and one that was cut.
  private(set) var otherLines: Set<Int> = []
  /// The file as it was read; nil for a pipe.
  private(set) var version: FileVersion?
  /// Whether rows of its run are missing: the report says so, or ends within a line.
  private(set) var isPartial = false
  /// The output directories of these rows, each once.
  private(set) var directories: [String] = []
  private var doneCount = 0
  private var failedCount = 0
  private let choice: Choice
  private let fields: Set<String>

  /// Reads the report at `path`, which may be compressed. `fields` are the header fields, in lower case, that every
  /// request gets.
  init(path: String, choice: Choice, fields: Set<String> = []) throws(ManifestError) {
    // Taken first: a change while the report is read counts as one afterwards.
    let version = path == "-" ? FileVersion(descriptor: STDIN_FILENO) : FileVersion(path: path)
    try self.init(LineReader(.open(path).unpacked(), longestLine: Self.longestLine), choice: choice, fields: fields)
    self.version = version
  }

  /// Reads a report. A line that is none of a report is an error: nothing is retried by halves. A last line without its
  /// end is left out: its run was killed while it wrote it.
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
        throw ManifestError(reader.name, at: .line(line.number), "not a line of a report: \(error.reason)")
      }
    }
  }

  /// What is tried and what is left alone, in a sentence or two for a person.
  var introduction: String {
    let tried = rows.isEmpty ? "Nothing to retry" : "Retrying \(Self.rows(rows.count))"
    let failed = failedCount == 0 ? "" : ", \(failedCount) failed for good (--all-failed tries them)"
    let text = "\(tried): \(Self.rows(doneCount)) \(doneCount == 1 ? "is" : "are") done\(failed)."
    guard isPartial else { return text }
    return text + " The report does not hold every row of its run: fetch the manifest again for the rest."
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
