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
    let memory = try Self.memory(of: &process) { memory throws(ImageError) in try memory.holding(file) }
    var request = DecodeRequest(step: DecodeStepOpen)
    request.format = format.id.rawValue
    request.byteCount = UInt64(file.count)
    request.maxPixels = UInt64(limits.maxPixels)
    request.longestSide = UInt32(DecodingLimits.longestSide)
    // The clock stops between the two steps, while this thread waits until there is memory for the pixels.
    let begin = ContinuousClock.now
    let deadline = begin + pool.timeout
    header = try Self.using(&process, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      if let error = try reply.error() { return .failure(error) }
      return .success(try IsolatedHeader(reply))
    }
    rest = begin.duration(to: deadline) - begin.duration(to: .now)
    self.process = Mutex(process)
    // From here on, the process is released with this object.
    try limits.check(header.size)
  }

  deinit { process.withLock { $0.take() }?.end() }

  /// Decodes the image at `size`, and passes the pixels to `body`, which must not keep them: the profile, and as many
  /// rows as the decoder could decode. Throws the failure of the decoder after that.
  func decode(
    at size: PixelSize, warnings: inout [String],
    _ body: (_ profile: [UInt8], _ rows: CImageBitmap) throws(ImageError) -> Void
  ) throws(ImageError) {
    // Aligned for the processor.
    let offset = (header.profileCount + 63) & ~63
    let rowBytes = size.width * header.layout.channels
    guard var process = process.withLock({ $0.take() }) else {
      throw ImageError(.decodeError, "The image was decoded before.")
    }
    let count = offset + rowBytes * size.height
    let memory = try Self.memory(of: &process) { memory throws(ImageError) in try memory.zeros(count) }
    let deadline = ContinuousClock.now + rest
    var request = DecodeRequest(step: DecodeStepDecode)
    (request.width, request.height) = (UInt32(size.width), UInt32(size.height))
    request.pixelOffset = UInt64(offset)
    let (reply, error) = try Self.using(&process, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      let error = try reply.error()
      guard reply.rowCount <= size.height, error != nil || reply.rowCount == size.height else {
        throw .misbehavior("it sent another number of rows")
      }
      return .success((reply, error))
    }
    defer { if error == nil { pool.giveBack(process) } else { process.end() } }
    warnings += reply.text.warningLines
    if reply.rowCount > 0 {
      let start = memory.start.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
      let rows = CImageBitmap(
        pixels: start, width: Int32(size.width), height: Int32(reply.rowCount),
        channels: Int32(header.layout.channels), stride: rowBytes)
      try body(Array(memory.bytes.prefix(header.profileCount)), rows)
    }
    withExtendedLifetime(memory) {}
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
    of process: inout DecoderProcess, _ body: (inout DecoderMemory) throws(ImageError) -> SharedMemory
  ) throws(ImageError) -> SharedMemory {
    do throws(ImageError) {
      return try body(&process.memory)
    } catch {
      process.end()
      throw error
    }
  }

  /// Exchanges messages with a process. It ends if it fails or refuses the image, which may have damaged it.
  private static func using<Value>(
    _ process: inout DecoderProcess, _ format: IsolatedFormat,
    _ body: (inout DecoderProcess) throws(DecoderFailure) -> Result<Value, ImageError>
  ) throws(ImageError) -> Value {
    let result: Result<Value, ImageError>
    do throws(DecoderFailure) {
      result = try body(&process)
    } catch {
      process.end()
      throw ImageError(error, for: format)
    }
    if case .failure = result { process.end() }
    return try result.get()
  }
}
