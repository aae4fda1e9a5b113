/// A reader of the items of one manifest, in one format.
protocol RowSource: Sendable {
  /// Returns the next item; nil after the last.
  mutating func next() throws(ManifestError) -> ManifestItem?
  /// The number of items, if it is known before they are read. Default nil.
  var count: Int? { get }
  /// The number of items that were read ahead when the manifest was opened. Default 0.
  var readAheadCount: Int { get }
}

extension RowSource {
  var count: Int? { nil }
  var readAheadCount: Int { 0 }
}
