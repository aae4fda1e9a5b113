extension Staging.ChangeSet {
  /// Removes thumbnails of more than `limit` bytes, and originals of more than `originalLimit`.
  ///
  /// - Returns: The number of thumbnails removed.
  mutating func removeBodies(above limit: Int, original originalLimit: Int) -> Int {
    var count = 0
    for index in changes.indices {
      let thumbnails = changes[index].change.thumbnails
      if thumbnails.values.contains(where: { $0.bytes.count > limit }) {
        changes[index].change.thumbnails = thumbnails.filter { $0.value.bytes.count <= limit }
        count += thumbnails.count - changes[index].change.thumbnails.count
      }
      if changes[index].change.original.count > originalLimit { changes[index].change.original = [] }
    }
    return count
  }

  /// Removes everything except removals.
  ///
  /// - Returns: The number of changes that lost something.
  mutating func removeAdditions() -> Int {
    let lost = changes.count { $0.change.adds }
    changes = changes.compactMap { key, change in change.withoutAdditions.map { (key, $0) } }
    used = []
    return lost
  }
}

extension Staging.Change {
  /// True if an entry that exists on disk must not stay as it is.
  var removes: Bool { source == nil || replacesAll || !adds }

  /// True if the change needs space on disk.
  fileprivate var adds: Bool { source?.policy.isStorable ?? false }

  /// The part of this change that needs no space; nil if all of it does.
  fileprivate var withoutAdditions: Self? {
    if !adds { return self }
    return replacesAll ? Self(source: nil) : nil
  }
}
