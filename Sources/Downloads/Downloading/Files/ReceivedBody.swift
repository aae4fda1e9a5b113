/// The body of a response as it arrives, in memory or in a file. A plain value, except that the file is shared.
struct ReceivedBody: Sendable {
  /// The bytes in memory; empty if they are in a file.
  private(set) var bytes: [UInt8]
  /// The number of bytes so far.
  private(set) var count: Int
  /// Nil for a body in memory.
  let writer: PartFile.Writer?

  /// Creates a body in memory.
  init(_ bytes: [UInt8] = []) {
    (self.bytes, count, writer) = (bytes, bytes.count, nil)
  }

  /// Creates a body of `count` bytes in the file of `writer`.
  init(_ writer: PartFile.Writer, count: Int = 0) {
    (bytes, self.count, self.writer) = ([], count, writer)
  }

  /// Begins the body of the response `head`. What a file had is removed.
  mutating func begin(_ head: TransferHead) throws(FetchFailure) {
    try writer?.restart(head)
    (bytes, count) = ([], 0)
  }

  /// Adds bytes.
  mutating func append(_ more: UnsafeRawBufferPointer) throws(FetchFailure) {
    if let writer { try writer.write(more, at: count) } else { bytes.append(contentsOf: more) }
    count += more.count
  }

  /// Reserves memory; does nothing for a file.
  mutating func reserve(_ capacity: Int) {
    if writer == nil { bytes.reserveCapacity(capacity) }
  }

  /// Returns the same bytes, to be continued in the file of `other`.
  func continued(by other: ReceivedBody) -> ReceivedBody {
    other.writer.map { ReceivedBody($0, count: count) } ?? self
  }
}
