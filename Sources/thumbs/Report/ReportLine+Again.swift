import ImageCache

extension ReportLine {
  /// What it takes to try a row again without its manifest: the member `again` of a line.
  struct Again: Hashable, Sendable {
    /// The output directory, as it was given.
    var directory: String
    /// The names of the files, as ``OutputName/pattern``.
    var file: String
    /// The thumbnails wanted, each as its fingerprint.
    var specs: [String]
    /// Further addresses, without credentials.
    var mirrors: [String]
    /// The names of the header fields that the row itself gave. Their values may be secret, and are not kept.
    var fields: [String]

    /// What to keep of `row`, whose files go to `directory`; nil for one that names no picture, and for one whose address
    /// holds a password where it should not: the names of its files may be made of that.
    init?(_ row: PlannedRow, directory: String) {
      guard case .row(let manifestRow) = row.entry, let name = row.name else { return nil }
      guard !Redaction.hidesPath(of: manifestRow.url) else { return nil }
      self.directory = directory
      file = name.pattern
      specs = row.specs.map(\.fingerprint)
      mirrors = manifestRow.options.mirrors.map(Redaction.url)
      fields = row.ownFields
    }

    /// Reads the member `again` of a line; nil where it does not name the files.
    init?(json: [String: Any]) {
      guard let directory = json["output"] as? String, let file = json["file"] as? String else { return nil }
      self.directory = directory
      self.file = file
      specs = json["specs"] as? [String] ?? []
      mirrors = json["urls"] as? [String] ?? []
      fields = json["headers"] as? [String] ?? []
    }
  }
}
