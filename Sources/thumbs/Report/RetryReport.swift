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
  /// The numbers of the lines that are not rows: the ends of reports, and an incomplete last line.
  private(set) var otherLines: Set<Int> = []
  /// The ends of complete reports. They remain true after a retry.
  private(set) var ends: [[UInt8]] = []
  /// The version of the file that was read; nil for a pipe.
  private(set) var version: FileVersion?
  /// True if rows of the run are missing, or may be: the report says so, or does not say that every row is there.
  var isPartial: Bool { proof.isPartial || proof.isCut }
  /// True if the report says that rows are missing, or ends in the middle of a line.
  var isKnownPartial: Bool { proof.isPartial || hasPart }
  /// The number of rows, and the greatest index of one; -1 without rows.
  private(set) var (count, lastIndex) = (0, -1)
  private var proof = ReportProof()
  private var hasPart = false
  /// The number of rows that are requested again.
  private(set) var requestedCount = 0
  /// The distinct output directories of the rows that are requested again.
  private(set) var directories: [String] = []
  /// The output directory of the first of the other ``rows``; nil if none has one.
  private(set) var otherDirectory: String?
  /// The number of retried rows whose files have the image of `--fallback`.
  private(set) var fallbackCount = 0
  /// The number of rows that have their files.
  private(set) var doneCount = 0
  /// The number of rows that failed permanently and are left alone.
  private(set) var failedCount = 0
  /// The number of skipped rows for each reason, in the order of their first rows.
  private(set) var skipped: [(reason: String, count: Int)] = []
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
    while let line = try reader.next(skipping: .spaces) {
      guard let bytes = line.bytes else { throw ManifestError(reader.name, at: .line(line.number), "is too long") }
      if bytes.allSatisfy({ $0 == 0x20 }) { continue }
      do throws(DocumentFlaw) {
        try take(bytes, number: line.number, of: reader.name)
      } catch {
        guard line.isEnded || line.number == 1 else {
          hasPart = true
          proof.addPart()
          otherLines.insert(line.number)
          break
        }
        throw ManifestError(reader.name, at: .line(line.number), "not a report line: \(error.reason)")
      }
    }
  }

  private mutating func take(_ bytes: [UInt8], number: Int, of name: String) throws(DocumentFlaw) {
    let object = try JSONDocument.parse(bytes)
    if let end = object as? [String: Any], proof.addEnd(end) {
      otherLines.insert(number)
      if end["complete"] as? Bool == true { ends.append(bytes) }
      return
    }
    let line = try RetryLine(object)
    proof.addRow()
    (count, lastIndex) = (count + 1, max(lastIndex, line.index))
    switch line.fate {
    case .done: doneCount += 1
    case .failed where choice == .retryable: failedCount += 1
    case .failed, .retryable:
      lineNumbers.append(number)
      do throws(RetryFlaw) {
        rows.append(try line.row(fields: fields))
        countRequest(of: line)
      } catch {
        let row = badRow(line, error, place: "\(name), line \(number)", bytes)
        rows.append(row)
        otherDirectory = otherDirectory ?? line.again?.directory
      }
    }
  }

  private mutating func countRequest(of line: RetryLine) {
    requestedCount += 1
    if !line.fallback.isEmpty { fallbackCount += 1 }
    if let directory = line.again?.directory, !directories.contains(directory) { directories.append(directory) }
  }

  /// Returns the row of `line`, whose text is `bytes`, as one that cannot be retried. Counts it if it is skipped.
  private mutating func badRow(_ line: RetryLine, _ flaw: RetryFlaw, place: String, _ bytes: [UInt8]) -> PlannedRow {
    switch flaw {
    case .unusable(let reason): return line.badRow("\(place): \(reason).")
    case .missing(let reason):
      if let known = skipped.firstIndex(where: { $0.reason == reason }) {
        skipped[known].count += 1
      } else {
        skipped.append((reason, 1))
      }
      return line.badRow("\(place): \(reason).", kept: bytes)
    }
  }
}
