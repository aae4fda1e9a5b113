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
  /// The output directory; nil where there is nothing to try.
  let directory: String?
  private let url: String?
  private let file: String?
  private let specs: [String]
  private let mirrors: [String]
  private let fields: [String]

  /// The line that the JSON value `object` is.
  init(_ object: Any) throws(DocumentFlaw) {
    guard let object = object as? [String: Any], let index = object["index"] as? Int,
      let status = (object["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { throw DocumentFlaw(reason: "it has no index and status") }
    self.index = index
    line = object["line"] as? Int
    name = object["name"] as? String
    url = object["url"] as? String
    switch status {
    case .ok: fate = .done
    case .cancelled: fate = .retryable
    case .failed: fate = object["retryable"] as? Bool == true ? .retryable : .failed
    }
    let again = object["again"] as? [String: Any] ?? [:]
    directory = again["output"] as? String
    file = again["file"] as? String
    specs = again["specs"] as? [String] ?? []
    mirrors = again["urls"] as? [String] ?? []
    fields = again["headers"] as? [String] ?? []
  }

  /// The row to fetch. Throws where the line does not hold all it takes: what is secret is in no report. `known` are
  /// the header fields, in lower case, that every request gets.
  func row(fields known: Set<String>) throws(RowFlaw) -> PlannedRow {
    guard let url, let file else { throw RowFlaw(reason: "the line names no picture that could be tried again") }
    let addresses = ([url] + mirrors).filter { !$0.contains(Redaction.mark + "@") }
    guard let first = addresses.first else {
      throw RowFlaw(reason: "the report does not hold the credentials of the address; fetch the manifest again")
    }
    if let field = fields.first(where: { !known.contains($0) }) {
      throw RowFlaw(reason: "the report does not hold the header field \(field) of the row; give it with --header")
    }
    var row = ManifestRow(index: index, line: line, name: name, url: first)
    row.options.mirrors = Array(addresses.dropFirst())
    let specs = self.specs.compactMap(ThumbnailSpec.init(fingerprint:))
    guard !specs.isEmpty, specs.count == self.specs.count else { throw RowFlaw(reason: "the specs make no sense") }
    do throws(PatternFlaw) {
      return PlannedRow(entry: .row(row), name: try OutputName(pattern: file), specs: specs, ownFields: fields)
    } catch {
      throw RowFlaw(reason: "the file name '\(file)' makes no sense")
    }
  }
}
