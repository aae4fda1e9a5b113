/// An error that makes a row unusable.
struct RowFlaw: Error, Hashable, Sendable {
  /// The description of the error: the end of a sentence that begins with the row's place.
  var reason: String
}
