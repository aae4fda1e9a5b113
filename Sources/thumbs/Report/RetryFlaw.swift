/// The reason why a row of a report cannot be retried: the end of a sentence, without its period.
enum RetryFlaw: Error, Hashable, Sendable {
  /// The report lacks something that a later run can have, such as a header field. The row keeps its line.
  case missing(String)
  /// No run wrote the line. The row becomes a bad row.
  case unusable(String)
}
