import BatchFetch
import Foundation
import HTTPTypes
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
  /// The URL of the page in which the image was found, without credentials; nil for other rows.
  var page: String?
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
    page = row.page.flatMap { $0.failure == nil ? Redaction.url($0.url) : nil }
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

// MARK: JSON

extension ReportLine {
  /// The line as one compact JSON object and a line feed. Unknown values are omitted. A skipped row has its old line.
  var json: [UInt8] {
    if case .skipped(let line, _) = outcome { return line + [UInt8(ascii: "\n")] }
    var text = JSONText()
    text.object { writeMembers(to: &$0) }
    text.endLine()
    return text.bytes
  }

  /// Writes the members of the line's object.
  func writeMembers(to text: inout JSONText) {
    text.member("index", index)
    if let name { text.member("name", name) }
    if let url { text.member("url", url) }
    if let page { text.member("page", page) }
    text.member("status", status.rawValue)
    switch outcome {
    case .done(let set, let outputs): Self.write(set, outputs, to: &text)
    case .kept(_, let outputs):
      text.member("origin", Self.existing)
      Self.write(outputs, to: &text)
      text.member("attempts", 0)
    case .failed(let failure): Self.write(failure, to: &text)
    case .skipped: break
    }
    if !fallback.isEmpty {
      text.member("fallback", true)
      Self.write(fallback, to: &text)
    }
    if let manifest { text.member("manifest", manifest) }
    if let line { text.member("line", line) }
    if let again { Self.write(again, to: &text) }
  }

  private static func write(_ set: ThumbnailSet, _ outputs: [Output], to text: inout JSONText) {
    text.member("origin", set.origin.rawValue)
    write(outputs, to: &text)
    text.key("source")
    text.object { text in
      text.member("width", set.source.size.width)
      text.member("height", set.source.size.height)
      text.member("format", set.source.format.rawValue)
      text.member("bytes", set.sourceBytes)
      text.member("sha256", set.digest.description)
    }
    if let placeholder = set.placeholder { write(placeholder, to: &text) }
    if let hash = set.perceptualHash { text.member("phash", hash.description) }
    if let status = set.httpStatus { text.member("http", status) }
    if let url = set.finalURL { text.member("finalURL", Redaction.url(url)) }
    write(set.redirects, to: &text)
    text.member("attempts", set.attempts)
    if set.isShared, set.attempts > 0 { text.member("shared", true) }
    write(set.timings, to: &text)
    text.key("warnings")
    text.array { text in
      for warning in set.warnings { text.value(warning) }
    }
  }

  private static func write(_ placeholder: Placeholder, to text: inout JSONText) {
    text.key("placeholder")
    text.object { text in
      text.member("thumbhash", placeholder.thumbHash.base64)
      if let color = placeholder.color { text.member("color", "#\(color)") }
    }
  }

  private static func write(_ outputs: [Output], to text: inout JSONText) {
    text.key("outputs")
    text.array { text in
      for output in outputs { write(output, to: &text) }
    }
  }

  private static func write(_ output: Output, to text: inout JSONText) {
    text.object { text in
      text.member("spec", output.spec)
      if let path = output.path { text.member("path", path) }
      text.member("width", output.size.width)
      text.member("height", output.size.height)
      text.member("format", output.format.rawValue)
      text.member("bytes", output.byteCount)
    }
  }

  private static func write(_ timings: Timings, to text: inout JSONText) {
    text.key("ms")
    text.object { text in
      text.member("queued", timings.queued.wholeMilliseconds)
      text.member("download", timings.download.wholeMilliseconds)
      text.member("render", timings.render.wholeMilliseconds)
    }
  }

  private static func write(_ failure: FetchFailure, to text: inout JSONText) {
    text.member("code", failure.code.description)
    // A retry fetches canceled rows, although no attempt of the same run repeats them.
    text.member("retryable", failure.code.isRetryable || failure.code == .cancelled)
    if let status = failure.httpStatus { text.member("http", status) }
    write(failure.redirects, to: &text)
    if let time = failure.retryAt { text.member("retryAt", time.ISO8601Format()) }
    if let time = failure.rememberedSince { text.member("rememberedSince", time.ISO8601Format()) }
    text.member("attempts", failure.attempts)
    if failure.isShared, failure.attempts > 0 { text.member("shared", true) }
    text.member("message", failure.message)
  }

  private static func write(_ redirects: [Redirect], to text: inout JSONText) {
    guard !redirects.isEmpty else { return }
    text.key("hops")
    text.array { text in
      for redirect in redirects {
        text.object { text in
          text.member("url", Redaction.url(redirect.url))
          text.member("http", redirect.response.status.code)
        }
      }
    }
  }

  private static func write(_ again: Again, to text: inout JSONText) {
    text.key("again")
    text.object { text in
      text.member("output", again.directory)
      text.member("file", again.file)
      text.member("specs", again.specs)
      if !again.mirrors.isEmpty { text.member("urls", again.mirrors) }
      if !again.fields.isEmpty { text.member("headers", again.fields) }
      if let digest = again.digest { text.member("sha256", digest.description) }
      if let search = again.search { text.member("find", search) }
    }
  }
}

extension Duration {
  /// The duration in milliseconds, rounded to the nearest.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1000 + Int((attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000)
  }
}

// MARK: Note

extension ReportLine {
  /// The line of `--verbose`: `ok network http://… -> a.jpg`, or the failure code, URL and message of a failed row. A
  /// skipped row has no code.
  var note: String {
    let source = url ?? "row \(index)"
    switch outcome {
    case .done(let set, let outputs): return "ok \(set.origin.rawValue) \(source) -> \(outputs.paths)".printable
    case .kept(_, let outputs): return "ok \(Self.existing) \(source) -> \(outputs.paths)".printable
    case .failed(let failure): return "\(status.rawValue) \(failure.code) \(source) \(failure.message)".printable
    case .skipped(_, let reason): return "skipped \(source) \(reason)".printable
    }
  }
}

extension [ReportLine.Output] {
  fileprivate var paths: String { compactMap(\.path).joined(separator: " ") }
}

// MARK: Again

extension ReportLine {
  /// The data needed to retry a row without its manifest: the member `again` of a line.
  struct Again: Hashable, Sendable {
    /// The output directory, as given on the command line.
    var directory: String
    /// The file names, as an ``OutputName/pattern``.
    var file: String
    /// The fingerprints of the thumbnails to make.
    var specs: [String]
    /// The mirror URLs, without credentials.
    var mirrors: [String]
    /// The names of the row's own header fields. Their values may be secret and are not stored.
    var fields: [String]
    /// The digest that the image must have; nil for any.
    var digest: BodyDigest?
    /// The search in the page of the URL that failed; nil if the URL is that of an image.
    var search: String?

    /// Creates the data for `row`, whose files go to `directory`. Nil for a row without an image, and for an invalid
    /// URL that may contain a password, since file names are made from the URL.
    init?(_ row: PlannedRow, directory: String) {
      guard case .row(let manifestRow) = row.entry, let name = row.name else { return nil }
      guard !Redaction.hidesPath(of: manifestRow.url) else { return nil }
      self.directory = directory
      file = name.pattern
      specs = row.specs.map(\.fingerprint)
      mirrors = manifestRow.options.mirrors.map(Redaction.url)
      fields = row.ownFields
      digest = manifestRow.options.digest
      if let page = manifestRow.page, page.failure != nil { search = page.search.rawValue }
    }

    /// Reads the member `again` of a line; nil if it does not name the files.
    init?(json: [String: Any]) {
      guard let directory = json["output"] as? String, let file = json["file"] as? String else { return nil }
      self.directory = directory
      self.file = file
      specs = json["specs"] as? [String] ?? []
      mirrors = json["urls"] as? [String] ?? []
      fields = json["headers"] as? [String] ?? []
      digest = (json["sha256"] as? String).flatMap { BodyDigest($0) }
      search = json["find"] as? String
    }
  }
}
