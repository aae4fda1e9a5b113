import BatchFetch
import ImageCache

/// An item of a manifest with everything that is decided before it is fetched.
struct PlannedRow: Sendable {
  var entry: ManifestEntry
  /// The names of the files to write; nil for a bad row.
  var name: OutputName?
  /// The thumbnails to make, and the placeholder if it was requested.
  var specs: [ThumbnailSpec] = []
  /// The lowercase names of the row's own header fields. A retry has to send them again.
  var ownFields: [String] = []
  /// The ends of the rows that this row depends on.
  var after: [Milestone] = []
  /// The member `again` of the retried report, for a row that cannot be retried now. It is copied to the next report.
  var again: ReportLine.Again?
  /// The line of the retried report, without its line feed, for a row that the retry skips; nil for any other row.
  var kept: [UInt8]?
  /// The files with the image of `--fallback` that the retried report names, and their directory; nil without any.
  var fallback: (directory: String, outputs: [ReportLine.Output])?
  /// The end of this row, which other rows may wait for.
  var end = Milestone()

  /// The thumbnails that become files.
  var files: [ThumbnailSpec] { specs.files }
}
