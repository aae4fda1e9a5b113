import BatchFetch
import ImageCache

/// A line of a report, reduced to what a retry needs.
struct RetryLine: Hashable, Sendable {
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
  init(_ object: Any) throws(DocumentFlaw) {
    guard let object = object as? [String: Any], let index = object["index"] as? Int,
      let status = (object["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { throw DocumentFlaw(reason: "it has no index and status") }
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
  func row(fields known: Set<String>) throws(RetryFlaw) -> PlannedRow {
    let unusable = RetryFlaw.unusable("the line has no image to retry")
    guard let url else { throw unusable }
    let urls = ([url] + (again?.mirrors ?? [])).filter { !$0.contains(Redaction.mark + "@") }
    guard let first = urls.first else {
      throw RetryFlaw.missing(
        "the report does not contain the credentials of the URL; run thumbs fetch with the manifest again")
    }
    guard let again else { throw unusable }
    if let field = again.fields.first(where: { !known.contains($0) }) {
      throw RetryFlaw.missing("the report does not contain the row's header field \(field); give it with --header")
    }
    var row = ManifestRow(index: index, line: line, name: name, url: first)
    row.options.mirrors = Array(urls.dropFirst())
    row.options.digest = again.digest
    row.manifest = manifest
    let specs = again.specs.compactMap(ThumbnailSpec.init(fingerprint:))
    guard !specs.isEmpty, specs.count == again.specs.count else { throw RetryFlaw.unusable("the specs are invalid") }
    do throws(PatternFlaw) {
      let name = try OutputName(pattern: again.file)
      return PlannedRow(
        entry: .row(row), name: name, specs: specs, ownFields: again.fields,
        fallback: fallback.isEmpty ? nil : (directory: again.directory, outputs: fallback))
    } catch {
      throw RetryFlaw.unusable("the file name '\(again.file)' is invalid")
    }
  }

  /// Returns the row as a bad row that cannot be retried for `reason`. It keeps the data that a later retry needs, and
  /// if `kept` is not nil, these bytes as its line.
  func badRow(_ reason: String, kept: [UInt8]? = nil) -> PlannedRow {
    let row = BadRow(index: index, line: line, name: name, url: url, reason: reason, manifest: manifest)
    return PlannedRow(entry: .bad(row), again: again, kept: kept)
  }
}
