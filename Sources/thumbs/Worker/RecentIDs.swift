/// The ids of the latest rows, in constant memory. A plain value.
struct RecentIDs {
  /// The default number of ids: more than the worker has in hand.
  static let standardCount = 8192

  private let limit: Int
  private var digests: Set<UInt128> = []
  /// The digests in the order of their rows; a ring once it is full.
  private var order: [UInt128] = []
  private var oldest = 0

  /// Creates a memory of the last `limit` ids, at least 1.
  init(limit: Int = standardCount) { self.limit = limit }

  /// Adds `id`, and forgets the oldest one if there are too many. Returns false if `id` is among them already.
  mutating func insert(_ id: RowID) -> Bool {
    let digest = id.digest
    guard digests.insert(digest).inserted else { return false }
    if order.count < limit {
      order.append(digest)
    } else {
      digests.remove(order[oldest])
      order[oldest] = digest
      oldest = (oldest + 1) % limit
    }
    return true
  }
}
