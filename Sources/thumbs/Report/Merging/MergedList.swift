/// The list to which merged reports belong, as far as they and the user describe it. A plain value.
struct MergedList: Hashable, Sendable {
  /// The number of rows; nil if it is unknown.
  private(set) var rows: Int?
  /// The digest of the rows; nil if no report has it.
  private(set) var digest: String?
  /// True if a report says that rows are missing, or was cut, or may have been.
  private(set) var hasPartialReport = false

  /// The reports, or the option, that the number and the digest are from.
  private var (rowsSource, digestSource) = ("--rows", "")

  /// - Parameter rows: The number of rows if the user gives it.
  init(rows: Int?) { self.rows = rows }

  /// True if nothing says where the list ends, while rows may be missing there.
  var lacksEnd: Bool { rows == nil && hasPartialReport }

  /// Adds a report that has been read to its end.
  ///
  /// - Throws: A `ManifestError` if it is one of another list.
  mutating func add(_ report: ReportReader, name: String) throws(ManifestError) {
    if report.isUnproven || report.isPartial { hasPartialReport = true }
    for list in report.lists { try add(list, name: name) }
  }

  private mutating func add(_ list: ReportedList, name: String) throws(ManifestError) {
    if let rows, rows != list.rows {
      throw ManifestError(name, "is of a list with \(list.rows) rows, but \(rowsSource) has \(rows)")
    }
    if rows == nil { (rows, rowsSource) = (list.rows, name) }
    guard let digest = list.digest else { return }
    if let known = self.digest, known != digest {
      throw ManifestError(name, "is of another list than \(digestSource), or the list was changed between the runs")
    }
    if self.digest == nil { (self.digest, digestSource) = (digest, name) }
  }
}
