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

  /// The rows to retry, in the order of the report.
  private(set) var rows: [PlannedRow] = []
  /// The line numbers of ``rows``, from 1, in the same order.
  private(set) var lineNumbers: [Int] = []
  /// The numbers of the lines that are not rows: the ends of reports, and an incomplete last line.
  var otherLines: Set<Int> { reader.otherLines }
  /// The ends of complete reports. They remain true after a retry.
  var ends: [[UInt8]] { reader.ends }
  /// The version of the file that was read; nil for a pipe.
  private(set) var version: FileVersion?
  /// True if rows of the run are missing, or may be: the report says so, or does not say that every row is there.
  var isPartial: Bool { reader.isPartial || reader.isUnproven }
  /// True if the report says that rows are missing, or ends in the middle of a line.
  var isKnownPartial: Bool { reader.isPartial || reader.isCut }
  /// The number of rows, and the greatest index of one; -1 without rows.
  private(set) var (count, lastIndex) = (0, -1)
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
  /// The rows of the report; nil unless they are compared with a list.
  private(set) var reported: ReportedRows?
  private var reader: ReportReader

  /// Reads the report at `path`, which may be compressed with gzip.
  ///
  /// - Parameters:
  ///   - path: The path; `-` is standard input.
  ///   - choice: The failures to retry.
  ///   - fields: The names, in lower case, of the header fields that every request gets.
  ///   - hasList: True if rows that are missing come from the list.
  init(path: String, choice: Choice, fields: Set<String> = [], hasList: Bool = false) throws(InputError) {
    // Before reading: the version then also detects changes made while the report is read.
    let version = path == "-" ? FileVersion(descriptor: STDIN_FILENO) : FileVersion(path: path)
    try self.init(ReportReader(path: path), choice: choice, fields: fields, hasList: hasList)
    self.version = version
  }

  /// Reads a report. Any unrecognized line rejects the whole report, except for a last line without a line feed: the
  /// run was killed while writing it, so it is skipped.
  init(
    _ reader: ReportReader, choice: Choice, fields: Set<String> = [], hasList: Bool = false
  ) throws(InputError) {
    self.reader = reader
    reported = hasList ? ReportedRows() : nil
    while let line = try self.reader.next() {
      (count, lastIndex) = (count + 1, max(lastIndex, line.row.index))
      reported?.add(line.row)
      switch line.row.fate {
      case .done: doneCount += 1
      case .failed where choice == .retryable: failedCount += 1
      case .failed, .retryable: add(line, fields)
      }
    }
  }

  private mutating func add(_ line: ReportReader.Line, _ fields: Set<String>) {
    lineNumbers.append(line.number)
    do throws(RetryError) {
      rows.append(try line.row.planned(fields: fields))
      countRequest(of: line.row)
    } catch {
      rows.append(badRow(line, error))
      otherDirectory = otherDirectory ?? line.row.again?.directory
    }
  }

  private mutating func countRequest(of row: ReportRow) {
    requestedCount += 1
    if !row.fallback.isEmpty { fallbackCount += 1 }
    if let directory = row.again?.directory, !directories.contains(directory) { directories.append(directory) }
  }

  /// Returns the row of `line` as one that cannot be retried. Counts it if it is skipped.
  private mutating func badRow(_ line: ReportReader.Line, _ error: RetryError) -> PlannedRow {
    let place = "\(reader.name), line \(line.number)"
    switch error {
    case .unusable(let reason): return line.row.bad("\(place): \(reason).")
    case .missing(let reason):
      if let known = skipped.firstIndex(where: { $0.reason == reason }) {
        skipped[known].count += 1
      } else {
        skipped.append((reason, 1))
      }
      return line.row.bad("\(place): \(reason).", kept: line.bytes)
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
    return ([text] + skips + (isPartial && reported == nil ? [lack] : [])).joined(separator: " ")
  }

  /// The sentences about rows that are, or may be, missing.
  private var lack: String {
    let known = "It has \(count) of the first \(lastIndex &+ 1) rows"
    let remedy = "\(known): give the list with --list, and the options of the run, for the rest."
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

// MARK: Rows

extension ReportRow {
  fileprivate enum Fate {
    /// The row has its files.
    case done
    /// The row failed permanently.
    case failed
    /// The row had a transient failure or was canceled.
    case retryable
  }

  fileprivate var fate: Fate {
    switch status {
    case .ok: .done
    case .cancelled: .retryable
    // An earlier retry could not try this row, and kept its data. It counts as canceled.
    case .failed where code == "\(FailureCode.badRow)" && again != nil: .retryable
    case .failed: isRetryable ? .retryable : .failed
    }
  }

  /// Returns the row to fetch. `known` are the names, in lower case, of the header fields that every request gets.
  ///
  /// - Throws: `missing` if the line lacks header fields or credentials, which are never stored in a report, and
  ///   `unusable` if it is not one that a run wrote.
  fileprivate func planned(fields known: Set<String>) throws(RetryError) -> PlannedRow {
    let unusable = RetryError.unusable("the line has no image to retry")
    guard let url else { throw unusable }
    if url.hasPrefix("data:") {
      throw RetryError.missing("the report does not contain data: URLs; run thumbs fetch with the manifest again")
    }
    let urls = ([url] + (again?.mirrors ?? [])).filter { !$0.contains(Redaction.mark + "@") }
    guard let first = urls.first else {
      throw RetryError.missing(
        "the report does not contain the credentials of the URL; run thumbs fetch with the manifest again")
    }
    guard let again else { throw unusable }
    let search = again.search.flatMap(PageSearch.init(rawValue:))
    if search == .images {
      throw RetryError.missing("all images of its page are wanted; run thumbs fetch --find images again")
    }
    if let field = again.fields.first(where: { !known.contains($0) }) {
      throw RetryError.missing("the report does not contain the row's header field \(field); give it with --header")
    }
    var row = ManifestRow(index: index, line: line, name: name, url: first)
    row.options.mirrors = Array(urls.dropFirst())
    row.options.digest = again.digest
    row.page = page.flatMap { $0.contains(Redaction.mark + "@") ? nil : RowPage(url: $0, search: .preview) }
    row.manifest = manifest
    let specs = again.specs.compactMap(ThumbnailSpec.init(fingerprint:))
    guard !specs.isEmpty, specs.count == again.specs.count else { throw RetryError.unusable("the specs are invalid") }
    do throws(PatternError) {
      let name = try OutputName(pattern: again.file)
      return PlannedRow(
        entry: .row(row), name: name, specs: specs, ownFields: again.fields, search: search,
        fallback: fallback.isEmpty ? nil : (directory: again.directory, outputs: fallback))
    } catch {
      throw RetryError.unusable("the file name '\(again.file)' is invalid")
    }
  }

  /// Returns the row as a bad row that cannot be retried for `reason`. It keeps the data that a later retry needs, and
  /// if `kept` is not nil, these bytes as its line.
  fileprivate func bad(_ reason: String, kept: [UInt8]? = nil) -> PlannedRow {
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

/// The rows of a report, to compare them with a list.
struct ReportedRows: Sendable {
  /// The hash of the URL of each row, without credentials, by its index; 0 for a row without one.
  private var urls: [Int: Int] = [:]

  mutating func add(_ row: ReportRow) { urls[row.index] = row.url?.byteHash ?? 0 }

  /// Returns true if the report has the row of `entry`.
  ///
  /// - Throws: If that is of another URL, so that the report is not of this list.
  func contains(_ entry: ManifestEntry, of list: String) throws(InputError) -> Bool {
    guard let known = urls[entry.index] else { return false }
    if case .row(let row) = entry, known != 0, known != Redaction.url(row.url).byteHash {
      throw InputError(list, at: .item(entry.index + 1), "has another URL than in the report, which is of another list")
    }
    return true
  }
}
