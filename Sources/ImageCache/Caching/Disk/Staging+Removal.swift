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
  /// - Returns: The number of changes removed.
  mutating func removeAdditions() -> Int {
    let count = changes.count
    changes.removeAll { $0.change.source != nil }
    used = []
    return count - changes.count
  }
}
