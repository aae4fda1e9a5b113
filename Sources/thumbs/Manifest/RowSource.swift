/// The items of one manifest, in one format.
protocol RowSource: Sendable {
  /// The next item; nil after the last.
  mutating func next() throws(ManifestError) -> ManifestItem?
}
