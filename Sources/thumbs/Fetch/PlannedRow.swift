import BatchFetch
import ImageCache

/// An item of a manifest with all that is settled before anything is fetched.
struct PlannedRow: Sendable {
  var entry: ManifestEntry
  /// The names of its files; nil for a row that names no picture.
  var name: OutputName?
  /// The thumbnails to make.
  var specs: [ThumbnailSpec] = []
  /// The header fields, in lower case, that are its own: without them, it would be another request.
  var ownFields: [String] = []
  /// The ends of the rows it depends on.
  var after: [Milestone] = []
  /// The member `again` of an earlier report, for a row that cannot be tried now. It is passed on to the next report.
  var again: ReportLine.Again?
  /// Its own end, which others may wait for.
  var end = Milestone()
}
