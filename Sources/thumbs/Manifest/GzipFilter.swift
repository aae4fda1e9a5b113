import CZlib

/// Decompresses gzip data (RFC 1952) of one or more members, and passes other data through unchanged. Holds one chunk
/// of the source, and returns everything that can be decompressed from it before it reads more.
///
/// Unchecked `Sendable`: the filter owns its memory, cannot be copied, and is only used with exclusive access.
struct GzipFilter: ~Copyable, @unchecked Sendable {
  private enum Mode {
    /// Nothing has been read yet.
    case unread
    /// The data is not gzip data.
    case plain
    /// The filter is inside a member.
    case packed
    /// A member has ended, and another may follow.
    case between
    /// The last member has ended.
    case ended
  }

  private static let chunkLength = 64 << 10

  private let source: ByteSource
  /// The bytes read but not yet decompressed; the stream's `next_in` points into this memory.
  private let input: UnsafeMutableRawBufferPointer
  /// The zlib stream. It must not move in memory, because zlib keeps a pointer to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private var mode = Mode.unread
  /// True if the last call filled its whole output buffer. Then zlib may have more output before it needs input.
  private var wasFull = false

  /// Creates a filter at the first byte of `source`.
  init(_ source: ByteSource) {
    self.source = source
    input = .allocate(byteCount: Self.chunkLength, alignment: 1)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    input.deallocate()
  }

  /// Fills `output` with the next bytes and returns their number, 0 at the end.
  mutating func read(into output: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
    if case .unread = mode { try begin() }
    while true {
      switch mode {
      case .unread, .ended: return 0
      case .plain: return try pass(into: output)
      case .between: try beginMember()
      case .packed:
        let count = try unpack(into: output)
        if count > 0 { return count }
      }
    }
  }

  private mutating func begin() throws(InputError) {
    while stream.pointee.avail_in < 2, try fill() {}
    let isPacked = pending.starts(with: [0x1F, 0x8B])
    mode = isPacked ? .packed : .plain
    // 16 selects the gzip wrapper, 15 the largest window.
    let size = Int32(MemoryLayout<z_stream>.size)
    if isPacked, inflateInit2_(stream, 16 + 15, ZLIB_VERSION, size) != Z_OK { throw error("cannot be decompressed") }
  }

  private var pending: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: stream.pointee.next_in, count: Int(stream.pointee.avail_in))
  }

  private func hasInput() throws(InputError) -> Bool {
    if !pending.isEmpty { return true }
    return try fill()
  }

  /// Reads more bytes after the pending ones. Returns false at the end.
  private func fill() throws(InputError) -> Bool {
    let used = pending.count
    input.copyMemory(from: pending)
    let count = try source.read(UnsafeMutableRawBufferPointer(rebasing: input[used...]))
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(used + count)
    return count > 0
  }

  private func pass(into output: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
    let count = min(pending.count, output.count)
    guard count > 0 else { return try source.read(output) }
    output.copyMemory(from: UnsafeRawBufferPointer(rebasing: pending[..<count]))
    stream.pointee.next_in += count
    stream.pointee.avail_in -= UInt32(count)
    return count
  }

  /// Begins the next member (RFC 1952, section 2.2), or ends at the zeros that may pad the last one to a block.
  private mutating func beginMember() throws(InputError) {
    guard try hasInput(), let next = pending.first, next != 0 else {
      mode = .ended
      return
    }
    guard next == 0x1F else { throw error("has other data after the compressed data") }
    inflateReset(stream)
    mode = .packed
  }

  private mutating func unpack(into output: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
    if !wasFull, try !hasInput() { throw error("the compressed data ends unexpectedly") }
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    switch inflate(stream, Z_NO_FLUSH) {
    case Z_STREAM_END: mode = .between
    case Z_OK, Z_BUF_ERROR: break
    default: throw error("the compressed data is damaged")
    }
    wasFull = stream.pointee.avail_out == 0
    return output.count - Int(stream.pointee.avail_out)
  }

  private func error(_ reason: String) -> InputError { InputError(source.name, reason) }
}
