/// Why a row asks for nothing.
struct RowFlaw: Error, Hashable, Sendable {
  /// The end of a sentence that begins with the row's place.
  var reason: String
}
