import BatchFetch
import ImageCache

/// One line of the report: a row and its outcome.
struct ReportLine: Sendable {
  /// One thumbnail, usually a file that was written or found unchanged.
  struct Output: Hashable, Sendable {
    /// The requested size: `256x256`, `64x64@2x`.
    var spec: String
    /// The path relative to the output directory; nil if there is no file.
    var path: String?
    /// The actual size in pixels.
    var size: PixelSize
    /// The format of the file.
    var format: OutputFormat
    /// The length of the thumbnail in bytes.
    var byteCount: Int
    /// The result of writing the file.
    var outcome: OutputWriter.WriteResult

    /// Creates the entry for `thumbnail` in the file at `path`.
    init(_ thumbnail: Thumbnail, path: String?, outcome: OutputWriter.WriteResult = .written) {
      self.outcome = outcome
      spec = thumbnail.spec.label
      self.path = path
      size = thumbnail.size
      format = thumbnail.format
      byteCount = thumbnail.bytes.count
    }

    /// Reads an element of `outputs` in a line of a report; nil if it lacks a field or leads out of the directory.
    init?(json: [String: Any]) {
      guard let spec = json["spec"] as? String, let path = json["path"] as? String, let width = json["width"] as? Int,
        let height = json["height"] as? Int, let byteCount = json["bytes"] as? Int,
        let format = (json["format"] as? String).flatMap(OutputFormat.init(rawValue:)),
        !path.hasPrefix("/"), !path.split(separator: "/").contains("..")
      else { return nil }
      (self.spec, self.path, self.format, self.byteCount) = (spec, path, format, byteCount)
      size = PixelSize(width: width, height: height)
      outcome = .unchanged
    }
  }

  /// The outcome of a row.
  enum RowOutcome: Sendable {
    /// The row succeeded, and these files hold its thumbnails.
    case done(ThumbnailSet, [Output])
    /// These files hold the thumbnails that an earlier run made from the same URL.
    case kept([Thumbnail], [Output])
    /// The row failed or was canceled.
    case failed(FetchFailure)
    /// A retry skipped the row for `reason`. `line` is its old line, without its line feed, which the report keeps.
    case skipped(line: [UInt8], reason: String)
  }

  /// The `origin` of rows whose files were left alone.
  static let existing = "existing"

  /// The value of `status` in the report.
  enum Status: String, CaseIterable, Hashable, Sendable {
    /// Every file exists.
    case ok
    /// The row failed.
    case failed
    /// The run ended before the row did, or a retry skipped the row.
    case cancelled
  }

  /// The row's index among all rows, from 0.
  var index: Int
  /// The row's line in its manifest, from 1; nil for formats without lines.
  var line: Int?
  /// The path of the row's manifest; nil if there is only one.
  var manifest: String?
  /// The row's name without credentials, since it may be a URL.
  var name: String?
  /// The row's URL without credentials; nil for a bad row that has none.
  var url: String?
  /// The outcome of the row.
  var outcome: RowOutcome
  /// The files with the fallback image that a row without success has; empty for all other rows.
  var fallback: [Output] = []
  /// The data needed to retry the row; nil if it succeeded or has no image.
  var again: Again?

  /// Creates the line for `row`, and removes credentials from a failure's message.
  init(_ row: ManifestRow, _ outcome: RowOutcome) {
    index = row.index
    line = row.line
    manifest = row.manifest
    name = row.name.map { Redaction.label($0, about: row.urls) }
    url = Redaction.url(row.url)
    self.outcome = outcome
    if case .failed(var failure) = outcome {
      failure.message = Redaction.message(failure.message, about: row.urls)
      self.outcome = .failed(failure)
    }
  }

  /// Creates the line for a bad row. If `kept` is not nil, a retry skips the row, and the report keeps these bytes.
  init(_ row: BadRow, kept: [UInt8]? = nil) {
    index = row.index
    line = row.line
    manifest = row.manifest
    name = row.name.map { Redaction.label($0) }
    url = row.url.map { Redaction.url($0) }
    let reason = Redaction.message(row.reason)
    outcome = kept.map { RowOutcome.skipped(line: $0, reason: reason) } ?? .failed(FetchFailure(.badRow, reason))
  }

  /// The value of `status` in the report.
  var status: Status {
    switch outcome {
    case .done, .kept: .ok
    case .failed(let failure): failure.code == .cancelled ? .cancelled : .failed
    case .skipped: .cancelled
    }
  }
}
