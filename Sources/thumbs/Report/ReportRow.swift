/// A row as a report has it. Its texts come from outside and may contain anything.
struct ReportRow: Hashable, Sendable {
  let index: Int
  let status: ReportLine.Status
  let url: String?
  let origin: String?
  let code: String?
  let isRetryable: Bool
  let message: String?
  /// The time of the download; nil if the row did not succeed.
  let download: Duration?
  /// The length of the image in bytes; 0 if the row did not succeed.
  let imageBytes: Int
  /// The lengths of the files in bytes.
  let fileBytes: [Int]
  let hasFallback: Bool

  /// The longest time that is believed, in milliseconds: a year. Sums of larger ones could overflow.
  private static let longestTime = 31_536_000_000

  /// Reads the row from the JSON value `value`; nil if that is not a row.
  init?(_ value: Any) {
    guard let row = value as? [String: Any], let index = row["index"] as? Int,
      let status = (row["status"] as? String).flatMap(ReportLine.Status.init(rawValue:))
    else { return nil }
    self.index = index
    self.status = status
    url = row["url"] as? String
    origin = row["origin"] as? String
    code = row["code"] as? String
    isRetryable = row["retryable"] as? Bool ?? false
    message = row["message"] as? String
    download = ((row["ms"] as? [String: Any])?["download"] as? Int).map {
      .milliseconds(min(max(0, $0), Self.longestTime))
    }
    imageBytes = max(0, (row["source"] as? [String: Any])?["bytes"] as? Int ?? 0)
    fileBytes = (row["outputs"] as? [[String: Any]] ?? []).map { max(0, $0["bytes"] as? Int ?? 0) }
    hasFallback = row["fallback"] as? Bool ?? false
  }
}
