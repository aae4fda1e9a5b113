/// The bytes that wait to be written. A plain value that decides who has to wait.
struct OutputBuffer {
  /// The permission to add a record.
  enum Admission: Hashable, Sendable {
    /// The record was added. True if there was nothing before it, so that the writer must be woken.
    case added(wakesWriter: Bool)
    /// There is no room; try again after the next ``take()``.
    case full
    /// Nothing is written any more; the record was dropped.
    case closed
  }

  private let limit: Int
  private var bytes: [UInt8] = []
  private(set) var isClosed = false

  /// Creates a buffer that has room while it has less than `limit` bytes.
  init(limit: Int) { self.limit = limit }

  /// Adds `record` if there is room: one record of any length may exceed the limit.
  mutating func add(_ record: [UInt8]) -> Admission {
    if isClosed { return .closed }
    guard bytes.count < limit else { return .full }
    defer { bytes += record }
    return .added(wakesWriter: bytes.isEmpty)
  }

  /// Returns everything that waits, which makes room.
  mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Drops everything that waits, and all later records.
  mutating func close() {
    isClosed = true
    bytes = []
  }
}
