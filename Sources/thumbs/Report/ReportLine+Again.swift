import ImageCache

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
    }
  }
}
