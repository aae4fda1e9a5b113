import BatchFetch
import ImageCache

/// What the report says about one row.
struct ReportLine: Sendable {
  /// One file that was written, or found unchanged.
  struct Output: Hashable, Sendable {
    /// The size asked for: `256x256`, `64x64@2x`.
    var spec: String
    /// The file, relative to the output directory.
    var path: String
    /// The real size in pixels.
    var size: PixelSize
    /// The file's format.
    var format: ImageFormat
    /// The file's length in bytes.
    var byteCount: Int
    /// Whether it had to be written.
    var outcome: OutputWriter.Outcome

    /// The file at `path` that holds `thumbnail`.
    init(_ thumbnail: Thumbnail, path: String, outcome: OutputWriter.Outcome = .written) {
      self.outcome = outcome
      spec = thumbnail.spec.label
      self.path = path
      size = thumbnail.size
      format = thumbnail.format
      byteCount = thumbnail.bytes.count
    }
  }

  /// How the row ended.
  enum Outcome: Sendable {
    /// Its thumbnails are in these files.
    case done(ThumbnailSet, [Output])
    /// It has none.
    case failed(FetchFailure)
  }

  /// The `status` of the report.
  enum Status: String, CaseIterable, Hashable, Sendable {
    /// Every file is there.
    case ok
    /// Something went wrong.
    case failed
    /// The run ended before the row did.
    case cancelled
  }

  /// The row's place among all rows, from 0.
  var index: Int
  /// The row's line in its manifest, from 1; nil where its format has none.
  var line: Int?
  /// The row's name without credentials: it may be an address.
  var name: String?
  /// The row's address without credentials; nil for a bad row.
  var url: String?
  /// How the row ended.
  var outcome: Outcome
  /// What it takes to try the row again; nil where it is done, or names no picture.
  var again: Again?

  /// The line about `row`. A failure's message is cleared of credentials.
  init(_ row: ManifestRow, _ outcome: Outcome) {
    index = row.index
    line = row.line
    name = row.name.map { Redaction.label($0, about: row.addresses) }
    url = Redaction.url(row.url)
    self.outcome = outcome
    if case .failed(var failure) = outcome {
      failure.message = Redaction.message(failure.message, about: row.addresses)
      self.outcome = .failed(failure)
    }
  }

  /// The line about a row that names no picture.
  init(_ row: BadRow) {
    index = row.index
    line = row.line
    name = row.name.map { Redaction.label($0) }
    url = row.url.map { Redaction.url($0) }
    outcome = .failed(FetchFailure(.badRow, Redaction.message(row.reason)))
  }

  /// The `status` of the report.
  var status: Status {
    switch outcome {
    case .done: .ok
    case .failed(let failure): failure.code == .cancelled ? .cancelled : .failed
    }
  }
}
