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
      do throws(ParseError) {
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

  private mutating func take(_ bytes: [UInt8], number: Int, of name: String) throws(ParseError) {
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
      do throws(RetryError) {
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
  private mutating func badRow(_ line: RetryLine, _ flaw: RetryError, place: String, _ bytes: [UInt8]) -> PlannedRow {
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

// MARK: Text

extension RetryReport {
  /// A few sentences for people: the number of rows to retry, and of those left alone, with the reasons.
  var introduction: String {
    let tried = requestedCount == 0 ? "Nothing to retry" : "Retrying \(Self.rows(requestedCount))"
    let failed = failedCount == 0 ? "" : ", \(failedCount) failed permanently (retry with --all-failed)"
    let text = "\(tried): \(Self.rows(doneCount)) \(doneCount == 1 ? "is" : "are") done\(failed)."
    return ([text] + skips + (isPartial ? [lack] : [])).joined(separator: " ")
  }

  /// The sentences about rows that are, or may be, missing.
  private var lack: String {
    let known = "It has \(count) of the first \(lastIndex &+ 1) rows"
    let remedy = "\(known): run thumbs fetch with the list again, and with --skip-existing, for the rest."
    if isKnownPartial { return "The report does not contain every row of its run. \(remedy)" }
    let cause = "its run was killed, or an older version wrote it"
    return "The report does not end with the line that proves it whole (\(cause)). \(remedy)"
  }

  /// The sentences about the skipped rows, one for each reason.
  var skips: [String] {
    skipped.map { reason, count in "\(Self.rows(count)) \(count == 1 ? "is" : "are") skipped: \(reason)." }
  }

  /// The advice for a retry without `--fallback` whose rows have files with its image; nil if none has.
  var fallbackAdvice: String? {
    guard fallbackCount > 0 else { return nil }
    let rows = "\(fallbackCount) of the rows to retry \(fallbackCount == 1 ? "has" : "have")"
    return "\(rows) the image of --fallback. Give --fallback again; otherwise images with another extension stay."
  }

  private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }
}

/// A line of a report, reduced to what a retry needs.
private struct RetryLine: Hashable, Sendable {
  /// The fate of its row.
  enum Fate: Hashable, Sendable {
    /// The row has its files.
    case done
    /// The row failed permanently.
    case failed
    /// The row had a transient failure or was canceled.
    case retryable
  }

  let index: Int
  let line: Int?
  let name: String?
  let manifest: String?
  let fate: Fate
  /// The data needed to retry the row; nil if the line does not contain it.
  let again: ReportLine.Again?
  /// The files with the image of `--fallback` that the row got; empty if it has none.
  let fallback: [ReportLine.Output]
  private let url: String?

  /// Reads a line from the JSON value `object`.
  init(_ object: Any) throws(ParseError) {
    guard let object = object as? [String: Any], let index = object["index"] as? Int,
      let status = (object["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { throw ParseError(reason: "it has no index and status") }
    self.index = index
    line = object["line"] as? Int
    name = object["name"] as? String
    manifest = object["manifest"] as? String
    url = object["url"] as? String
    let outputs = object["fallback"] as? Bool == true ? object["outputs"] as? [[String: Any]] : nil
    fallback = (outputs ?? []).compactMap(ReportLine.Output.init(json:))
    again = (object["again"] as? [String: Any]).flatMap(ReportLine.Again.init(json:))
    switch status {
    case .ok: fate = .done
    case .cancelled: fate = .retryable
    // An earlier retry could not try this row, and kept its data. It counts as canceled.
    case .failed where object["code"] as? String == "\(FailureCode.badRow)" && again != nil: fate = .retryable
    case .failed: fate = object["retryable"] as? Bool == true ? .retryable : .failed
    }
  }

  /// Returns the row to fetch. `known` are the names, in lower case, of the header fields that every request gets.
  ///
  /// - Throws: `missing` if the line lacks header fields or credentials, which are never stored in a report, and
  ///   `unusable` if it is not one that a run wrote.
  func row(fields known: Set<String>) throws(RetryError) -> PlannedRow {
    let unusable = RetryError.unusable("the line has no image to retry")
    guard let url else { throw unusable }
    let urls = ([url] + (again?.mirrors ?? [])).filter { !$0.contains(Redaction.mark + "@") }
    guard let first = urls.first else {
      throw RetryError.missing(
        "the report does not contain the credentials of the URL; run thumbs fetch with the manifest again")
    }
    guard let again else { throw unusable }
    if let field = again.fields.first(where: { !known.contains($0) }) {
      throw RetryError.missing("the report does not contain the row's header field \(field); give it with --header")
    }
    var row = ManifestRow(index: index, line: line, name: name, url: first)
    row.options.mirrors = Array(urls.dropFirst())
    row.options.digest = again.digest
    row.manifest = manifest
    let specs = again.specs.compactMap(ThumbnailSpec.init(fingerprint:))
    guard !specs.isEmpty, specs.count == again.specs.count else { throw RetryError.unusable("the specs are invalid") }
    do throws(PatternError) {
      let name = try OutputName(pattern: again.file)
      return PlannedRow(
        entry: .row(row), name: name, specs: specs, ownFields: again.fields,
        fallback: fallback.isEmpty ? nil : (directory: again.directory, outputs: fallback))
    } catch {
      throw RetryError.unusable("the file name '\(again.file)' is invalid")
    }
  }

  /// Returns the row as a bad row that cannot be retried for `reason`. It keeps the data that a later retry needs, and
  /// if `kept` is not nil, these bytes as its line.
  func badRow(_ reason: String, kept: [UInt8]? = nil) -> PlannedRow {
    let row = BadRow(index: index, line: line, name: name, url: url, reason: reason, manifest: manifest)
    return PlannedRow(entry: .bad(row), again: again, kept: kept)
  }
}

/// The reason why a row of a report cannot be retried: the end of a sentence, without its period.
private enum RetryError: Error, Hashable, Sendable {
  /// The report lacks something that a later run can have, such as a header field. The row keeps its line.
  case missing(String)
  /// No run wrote the line. The row becomes a bad row.
  case unusable(String)
}
