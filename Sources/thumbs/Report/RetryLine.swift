import BatchFetch
import ImageCache

/// A line of a report, as far as a further try needs it.
struct RetryLine: Hashable, Sendable {
  /// How its row ended.
  enum Fate: Hashable, Sendable {
    /// It has its files.
    case done
    /// It failed, and would again.
    case failed
    /// It failed in a way that may pass, or was cancelled.
    case retryable
  }

  let index: Int
  let line: Int?
  let name: String?
  let fate: Fate
  /// What it takes to try the row again; nil where the line does not hold it.
  let again: ReportLine.Again?
  private let url: String?

  /// The line that the JSON value `object` is.
  init(_ object: Any) throws(DocumentFlaw) {
    guard let object = object as? [String: Any], let index = object["index"] as? Int,
      let status = (object["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { throw DocumentFlaw(reason: "it has no index and status") }
    self.index = index
    line = object["line"] as? Int
    name = object["name"] as? String
    url = object["url"] as? String
    again = (object["again"] as? [String: Any]).flatMap(ReportLine.Again.init(json:))
    switch status {
    case .ok: fate = .done
    case .cancelled: fate = .retryable
    // A row that an earlier retry could not try has lost nothing: it is as good as cancelled.
    case .failed where object["code"] as? String == "\(FailureCode.badRow)" && again != nil: fate = .retryable
    case .failed: fate = object["retryable"] as? Bool == true ? .retryable : .failed
    }
  }

  /// The row to fetch. Throws where the line does not hold all it takes: what is secret is in no report. `known` are
  /// the header fields, in lower case, that every request gets.
  func row(fields known: Set<String>) throws(RowFlaw) -> PlannedRow {
    let unusable = RowFlaw(reason: "the line names no picture that could be tried again")
    guard let url else { throw unusable }
    let addresses = ([url] + (again?.mirrors ?? [])).filter { !$0.contains(Redaction.mark + "@") }
    guard let first = addresses.first else {
      throw RowFlaw(reason: "the report does not hold the credentials of the address; fetch the manifest again")
    }
    guard let again else { throw unusable }
    if let field = again.fields.first(where: { !known.contains($0) }) {
      throw RowFlaw(reason: "the report does not hold the header field \(field) of the row; give it with --header")
    }
    var row = ManifestRow(index: index, line: line, name: name, url: first)
    row.options.mirrors = Array(addresses.dropFirst())
    let specs = again.specs.compactMap(ThumbnailSpec.init(fingerprint:))
    guard !specs.isEmpty, specs.count == again.specs.count else { throw RowFlaw(reason: "the specs make no sense") }
    do throws(PatternFlaw) {
      let name = try OutputName(pattern: again.file)
      return PlannedRow(entry: .row(row), name: name, specs: specs, ownFields: again.fields)
    } catch {
      throw RowFlaw(reason: "the file name '\(again.file)' makes no sense")
    }
  }

  /// The row as one that cannot be tried, for `reason`. It keeps everything that another try needs.
  func badRow(_ reason: String) -> PlannedRow {
    PlannedRow(entry: .bad(BadRow(index: index, line: line, name: name, url: url, reason: reason)), again: again)
  }
}
