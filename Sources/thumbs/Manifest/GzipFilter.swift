import CZlib

/// Unpacks what a source gives where that is gzip data (RFC 1952), of one member or several, and passes it on where it
/// is not. Holds one chunk of the source, and hands out what can be unpacked without waiting for more.
///
/// Sendable, unchecked: its memory is its own, it cannot be copied, and every use of it is exclusive.
struct GzipFilter: ~Copyable, @unchecked Sendable {
  private enum Mode {
    /// Nothing was read.
    case unread
    /// It is something else.
    case plain
    /// Inside a member.
    case packed
    /// Behind a member; another may follow.
    case between
    /// Behind the last one.
    case ended
  }

  private static let chunkLength = 64 << 10

  private let source: ByteSource
  /// What was read and is not unpacked: `next_in` of the stream points into it.
  private let input: UnsafeMutableRawBufferPointer
  /// zlib keeps the address of its stream, so that has to stay where it is.
  private let stream: UnsafeMutablePointer<z_stream>
  private var mode = Mode.unread
  /// Whether the last call filled all of its room: zlib may have more to hand out before it needs input.
  private var wasFull = false

  /// A filter before the first byte of `source`.
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

  /// Puts the next bytes into `output` and returns their number, 0 at the end.
  mutating func read(into output: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
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

  private mutating func begin() throws(ManifestError) {
    while stream.pointee.avail_in < 2, try fill() {}
    let isPacked = pending.starts(with: [0x1F, 0x8B])
    mode = isPacked ? .packed : .plain
    // 16 asks for the gzip wrapper, 15 for the largest window.
    let size = Int32(MemoryLayout<z_stream>.size)
    if isPacked, inflateInit2_(stream, 16 + 15, ZLIB_VERSION, size) != Z_OK { throw error("cannot be unpacked") }
  }

  private var pending: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: stream.pointee.next_in, count: Int(stream.pointee.avail_in))
  }

  private func hasInput() throws(ManifestError) -> Bool {
    if !pending.isEmpty { return true }
    return try fill()
  }

  /// Reads more behind what is pending. False at the end.
  private func fill() throws(ManifestError) -> Bool {
    let used = pending.count
    input.copyMemory(from: pending)
    let count = try source.read(UnsafeMutableRawBufferPointer(rebasing: input[used...]))
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(used + count)
    return count > 0
  }

  private func pass(into output: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
    let count = min(pending.count, output.count)
    guard count > 0 else { return try source.read(output) }
    output.copyMemory(from: UnsafeRawBufferPointer(rebasing: pending[..<count]))
    stream.pointee.next_in += count
    stream.pointee.avail_in -= UInt32(count)
    return count
  }

  /// Members may stand one after the other (RFC 1952, section 2.2). Zeros behind the last one fill up a block.
  private mutating func beginMember() throws(ManifestError) {
    guard try hasInput(), let next = pending.first, next != 0 else {
      mode = .ended
      return
    }
    guard next == 0x1F else { throw error("has other data behind the compressed data") }
    inflateReset(stream)
    mode = .packed
  }

  private mutating func unpack(into output: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
    if !wasFull, try !hasInput() { throw error("the compressed data ends in the middle") }
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

  private func error(_ reason: String) -> ManifestError { ManifestError(source.name, reason) }
}
