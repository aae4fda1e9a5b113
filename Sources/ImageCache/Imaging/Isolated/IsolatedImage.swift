import CDecodeChannel
import CImage
import Synchronization

/// An image that is open in a process of `thumbs-decode`.
///
/// The process goes back to its pool after the pixels were used, not before: they are in memory that the next image
/// overwrites. It ends if it fails, or if the image is released before it is decoded.
final class IsolatedImage: Sendable {
  /// The checked header.
  let header: IsolatedHeader
  private let format: IsolatedFormat
  private let pool: DecoderPool
  /// The time that is left for decoding.
  private let rest: Duration
  /// Nil once the image is decoded.
  private let process: Mutex<DecoderProcess?>

  /// Opens the image in `file`.
  init(
    _ file: Span<UInt8>, _ format: IsolatedFormat, limits: DecodingLimits, pool: DecoderPool
  ) throws(ImageError) {
    (self.pool, self.format) = (pool, format)
    var process = try Self.take(from: pool, for: format)
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.holding(file) }
    var request = DecodeRequest(step: DecodeStepOpen)
    request.format = format.id.rawValue
    request.byteCount = UInt64(file.count)
    request.maxPixels = UInt64(limits.maxPixels)
    request.longestSide = UInt32(DecodingLimits.longestSide)
    // The clock stops between the two steps, while this thread waits until there is memory for the pixels.
    let begin = ContinuousClock.now
    let deadline = begin + pool.timeout
    header = try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      if let error = try reply.error() { return .failure(error) }
      return .success(try IsolatedHeader(reply))
    }
    rest = begin.duration(to: deadline) - begin.duration(to: .now)
    self.process = Mutex(process)
    // From here on, the process is released with this object.
    try limits.check(header.size)
  }

  deinit { process.withLock { $0.take() }.map(pool.end) }

  /// Decodes the image at `size`, and passes the pixels to `body`: the profile, and as many rows as the decoder could
  /// decode. Throws the failure of the decoder after that.
  func decode(
    at size: PixelSize, warnings: inout [String],
    _ body: (_ profile: [UInt8], _ rows: IsolatedRows) throws(ImageError) -> Void
  ) throws(ImageError) {
    // Aligned for the processor.
    let offset = (header.profileCount + 63) & ~63
    let rowBytes = size.width * header.layout.channels
    guard var process = process.withLock({ $0.take() }) else {
      throw ImageError(.decodeError, "The image was decoded before.")
    }
    let count = offset + rowBytes * size.height
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.zeros(count) }
    let deadline = ContinuousClock.now + rest
    var request = DecodeRequest(step: DecodeStepDecode)
    (request.width, request.height) = (UInt32(size.width), UInt32(size.height))
    request.pixelOffset = UInt64(offset)
    let (reply, error) = try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      let error = try reply.error()
      guard reply.rowCount <= size.height, error != nil || reply.rowCount == size.height else {
        throw .misbehavior("it sent another number of rows")
      }
      return .success((reply, error))
    }
    defer { if error == nil { pool.giveBack(process) } else { pool.end(process) } }
    warnings += reply.text.warningLines
    if reply.rowCount > 0 {
      let rows = IsolatedRows(
        memory: memory, offset: offset, width: size.width, channels: header.layout.channels, count: Int(reply.rowCount))
      try body(memory.copied(0..<header.profileCount), rows)
    }
    if let error { throw error }
  }

  /// Takes a process that can decode `format`.
  private static func take(from pool: DecoderPool, for format: IsolatedFormat) throws(ImageError) -> DecoderProcess {
    do throws(DecoderFailure) {
      let process = try pool.take()
      if process.hello.has(format) { return process }
      pool.giveBack(process)
    } catch {
      throw ImageError(error, for: format)
    }
    throw ImageError(without: format)
  }

  /// Returns memory of a process, which ends if there is not enough.
  private static func memory(
    of process: inout DecoderProcess, _ pool: DecoderPool,
    _ body: (inout DecoderMemory) throws(ImageError) -> SharedMemory
  ) throws(ImageError) -> SharedMemory {
    do throws(ImageError) {
      return try body(&process.memory)
    } catch {
      pool.end(process)
      throw error
    }
  }

  /// Exchanges messages with a process. It ends if it fails or refuses the image, which may have damaged it.
  private static func using<Value>(
    _ process: inout DecoderProcess, _ pool: DecoderPool, _ format: IsolatedFormat,
    _ body: (inout DecoderProcess) throws(DecoderFailure) -> Result<Value, ImageError>
  ) throws(ImageError) -> Value {
    let result: Result<Value, ImageError>
    do throws(DecoderFailure) {
      result = try body(&process)
    } catch {
      pool.end(process)
      throw ImageError(error, for: format)
    }
    if case .failure = result { pool.end(process) }
    return try result.get()
  }
}

/// The decoded rows in the memory of a process, which may change them at any time.
struct IsolatedRows {
  fileprivate let memory: SharedMemory
  fileprivate let offset: Int
  fileprivate let width: Int
  fileprivate let channels: Int
  fileprivate let count: Int

  /// The size of the copies in bytes: they stay in the caches of the processor.
  private static let bandBytes = 256 << 10

  /// Passes copies of the rows to `sink`, a band at a time. Each sample is read once, so all thumbnails are made from
  /// the same pixels.
  func copy(into sink: some RowSink) throws(ImageError) {
    let stride = width * channels
    let height = min(max(1, Self.bandBytes / stride), count)
    let band = try CImageCall.allocate(height * stride)
    defer { CImageCall.free(band) }
    for first in Swift.stride(from: 0, to: count, by: height) {
      let rows = min(height, count - first)
      let start = offset + first * stride
      memory.copy(start..<start + rows * stride, to: band)
      try sink.take([
        CImageBitmap(
          pixels: band, width: Int32(width), height: Int32(rows), channels: Int32(channels), stride: stride)
      ])
    }
  }
}
