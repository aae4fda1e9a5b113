extension RetryReport {
  /// A few sentences for people: the number of rows to retry, and of those left alone, with the reasons.
  var introduction: String {
    let tried = requestedCount == 0 ? "Nothing to retry" : "Retrying \(Self.rows(requestedCount))"
    let failed = failedCount == 0 ? "" : ", \(failedCount) failed permanently (retry with --all-failed)"
    let text = "\(tried): \(Self.rows(doneCount)) \(doneCount == 1 ? "is" : "are") done\(failed)."
    return ([text] + skips + (isPartial ? [lack] : [])).joined(separator: " ")
  }

  /// The sentences about rows that are, or may be, missing.
  private var lack: String {
    let known = "It has \(count) of the first \(lastIndex &+ 1) rows"
    let remedy = "\(known): run thumbs fetch with the list again, and with --skip-existing, for the rest."
    if isKnownPartial { return "The report does not contain every row of its run. \(remedy)" }
    let cause = "its run was killed, or an older version wrote it"
    return "The report does not end with the line that proves it whole (\(cause)). \(remedy)"
  }

  /// The sentences about the skipped rows, one for each reason.
  var skips: [String] {
    skipped.map { reason, count in "\(Self.rows(count)) \(count == 1 ? "is" : "are") skipped: \(reason)." }
  }

  /// The advice for a retry without `--fallback` whose rows have files with its image; nil if none has.
  var fallbackAdvice: String? {
    guard fallbackCount > 0 else { return nil }
    let rows = "\(fallbackCount) of the rows to retry \(fallbackCount == 1 ? "has" : "have")"
    return "\(rows) the image of --fallback. Give --fallback again; otherwise images with another extension stay."
  }

  private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }
}
