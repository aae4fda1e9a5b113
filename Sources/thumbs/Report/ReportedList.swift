/// The list of a complete run, as in the last line of a report.
struct ReportedList: Hashable, Sendable {
  /// The number of rows.
  let rows: Int
  /// The digest of the rows, see ``ListDigest``; nil if the line has none.
  let digest: String?

  /// Reads the members of a last line; nil if they do not contain the number of rows.
  init?(_ members: [String: Any]) {
    guard let rows = members["rows"] as? Int else { return nil }
    self.rows = rows
    digest = members["list"] as? String
  }
}
