/// A reader of the items of one manifest, in one format.
protocol RowSource: Sendable {
  /// Returns the next item; nil after the last.
  mutating func next() throws(ManifestError) -> ManifestItem?
}
