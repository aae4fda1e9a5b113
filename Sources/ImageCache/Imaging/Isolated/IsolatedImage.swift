import CDecodeChannel
import CImage
import Synchronization

/// An image that is open in a process of `thumbs-decode`.
///
/// The process goes back to its pool after the pixels were used, not before: they are in memory that the next image
/// overwrites. It ends if it fails, or if the image is released before its last frame is decoded.
final class IsolatedImage: Sendable {
  /// The checked header.
  let header: IsolatedHeader
  private let format: IsolatedFormat
  private let page: Int
  private let limits: DecodingLimits
  private let pool: DecoderPool
  /// Nil once the image is decoded.
  private let state: Mutex<State?>

  private struct State {
    var process: DecoderProcess
    /// The time that is left for decoding.
    var rest: Duration
  }

  /// Opens the image in `file`. All frames of a sequence together may take `timeouts` times as long as an image.
  init(
    _ file: Span<UInt8>, _ format: IsolatedFormat, page: Int, limits: DecodingLimits, pool: DecoderPool,
    timeouts: Int = 1
  ) throws(ImageError) {
    (self.format, self.page, self.limits, self.pool) = (format, page, limits, pool)
    var process = try Self.take(from: pool, for: format)
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.holding(file) }
    var request = DecodeRequest(step: DecodeStepOpen)
    request.format = format.id.rawValue
    request.byteCount = UInt64(file.count)
    request.maxPixels = UInt64(limits.maxPixels)
    request.longestSide = UInt32(DecodingLimits.longestSide)
    request.page = UInt32(clamping: page)
    // The clock stops between the steps, while this thread waits until there is memory for the pixels.
    let begin = ContinuousClock.now
    let deadline = begin + pool.timeout
    header = try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: deadline)
      if let error = try reply.error() { return .failure(error) }
      return .success(try IsolatedHeader(reply))
    }
    state = Mutex(State(process: process, rest: pool.timeout * timeouts - begin.duration(to: .now)))
    // From here on, the process is released with this object.
    try limits.check(header.size)
  }

  deinit { state.withLock { $0.take() }.map { pool.end($0.process) } }

  /// Opens the image again, in a process that is free.
  func reopened(_ file: Span<UInt8>, timeouts: Int) throws(ImageError) -> IsolatedImage {
    let image = try IsolatedImage(file, format, page: page, limits: limits, pool: pool, timeouts: timeouts)
    guard image.header == header else {
      throw ImageError(.misbehavior("it sent another header for the same file"), for: format)
    }
    return image
  }

  /// Returns the time for which each frame of a sequence is shown, in milliseconds. It cannot be decoded then.
  func durations() throws(ImageError) -> [Int] {
    var (process, rest) = try take()
    let count = header.frameCount * MemoryLayout<UInt32>.size
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.zeros(count) }
    let deadline = ContinuousClock.now + rest
    try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(DecodeRequest(step: DecodeStepTime), memory.descriptor, until: deadline)
      return try reply.error().map(Result.failure) ?? .success(())
    }
    defer { pool.giveBack(process) }
    return memory.copied(0..<count).withUnsafeBytes { $0.bindMemory(to: UInt32.self).map { Int($0) } }
  }

  /// Decodes a frame at `size`, which is that of a vector image or the stored one after so many halvings. Passes the
  /// pixels to `body`: the profile, and as many rows as the decoder could decode. Throws the failure of the decoder
  /// after that.
  func decode(
    _ frame: IsolatedFrame, at size: PixelSize, halvings: Int, warnings: inout [String],
    _ body: (_ profile: [UInt8], _ rows: IsolatedRows) throws(ImageError) -> Void
  ) throws(ImageError) {
    // Aligned for the processor.
    let offset = (header.profileCount + 63) & ~63
    let rowBytes = size.width * header.layout.channels
    var (process, rest) = try take()
    let count = offset + rowBytes * size.height
    let memory = try Self.memory(of: &process, pool) { memory throws(ImageError) in try memory.zeros(count) }
    let begin = ContinuousClock.now
    var request = DecodeRequest(step: DecodeStepDecode)
    (request.width, request.height) = (UInt32(size.width), UInt32(size.height))
    request.halvings = UInt32(halvings)
    (request.frame, request.isFollowed) = (UInt32(frame.index), frame.isLast ? 0 : 1)
    request.pixelOffset = UInt64(offset)
    let (reply, error) = try Self.using(&process, pool, format) { process throws(DecoderFailure) in
      let reply = try process.exchange(request, memory.descriptor, until: begin + rest)
      let error = try reply.error()
      guard reply.rowCount <= size.height, error != nil || reply.rowCount == size.height else {
        throw .misbehavior("it sent another number of rows")
      }
      return .success((reply, error))
    }
    rest -= begin.duration(to: .now)
    defer { release(process, rest, after: frame, hasFailed: error != nil) }
    warnings += reply.text.warningLines
    if reply.rowCount > 0 {
      let rows = IsolatedRows(
        memory: memory, offset: offset, width: size.width, channels: header.layout.channels, count: Int(reply.rowCount))
      try body(memory.copied(0..<header.profileCount), rows)
    }
    if let error { throw error }
  }

  /// Returns the process and the time that is left for it.
  private func take() throws(ImageError) -> (DecoderProcess, Duration) {
    guard let state = state.withLock({ $0.take() }) else {
      throw ImageError(.decodeError, "The image was decoded before.")
    }
    return (state.process, state.rest)
  }

  /// Keeps the process for the next frame, or gives it back after the last one.
  private func release(_ process: DecoderProcess, _ rest: Duration, after frame: IsolatedFrame, hasFailed: Bool) {
    if hasFailed {
      pool.end(process)
    } else if frame.isLast {
      pool.giveBack(process)
    } else {
      state.withLock { $0 = State(process: process, rest: rest) }
    }
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

/// A frame of a sequence, or the only one of an image.
struct IsolatedFrame: Hashable, Sendable {
  var index = 0
  var isLast = true
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

/// The header that a process of `thumbs-decode` declares, after validation.
struct IsolatedHeader: Hashable, Sendable {
  let size: PixelSize
  let layout: PixelLayout
  let orientation: Orientation
  /// The bytes of the ICC profile; 0 without a profile.
  let profileCount: Int
  /// The colors of an image without a profile; nil if it declares none.
  let encoding: ColorEncoding?
  /// True if the image can be drawn at any size.
  let isVector: Bool
  /// The number of times that the decoder can halve the size, at most 32.
  let halvings: Int
  /// The frames of a sequence, which is shown so many times; 0 times for ever. At most 1 frame of a still image.
  let frameCount, loops: Int
  /// Harmless oddities.
  let warnings: [String]

  /// Throws for numbers that no decoder sends. The size is checked by ``DecodingLimits``.
  init(_ reply: DecodeReply) throws(DecoderFailure) {
    let header = reply.header
    size = PixelSize(width: Int(header.width), height: Int(header.height))
    guard let layout = Self.layouts[header.channels], let orientation = Orientation(rawValue: Int(header.orientation)),
      header.profileCount <= DecodingLimits.maxProfileBytes, header.isVector <= 1, header.halvings <= 32,
      header.frameCount <= Animation.maxFrames
    else { throw .misbehavior("it sent numbers that make no sense") }
    (self.layout, self.orientation) = (layout, orientation)
    profileCount = Int(header.profileCount)
    encoding = ColorEncoding(primaries: header.primaries, transfer: header.transfer)
    (isVector, halvings) = (header.isVector == 1, Int(header.halvings))
    (frameCount, loops) = (Int(header.frameCount), Int(header.loops))
    warnings = reply.text.warningLines
  }

  private static let layouts: [UInt32: PixelLayout] = [1: .gray, 2: .grayAlpha, 3: .rgb, 4: .rgba]
}

extension DecodeRequest {
  /// Creates a request without fields.
  init(step: DecodeStep) {
    self.init()
    self.step = step.rawValue
  }
}

extension DecodeReply {
  /// The error that the reply reports; nil for success. Throws for a status that does not exist.
  func error() throws(DecoderFailure) -> ImageError? {
    guard status != DecodeStatusOK.rawValue else { return nil }
    guard let code = Self.codes[status] else { throw .misbehavior("it sent a status that does not exist") }
    var error = ImageError(code, reason: text.errorLine)
    // The limit of the process, so that another attempt would reach it, too.
    if status == DecodeStatusOutOfMemory.rawValue { error.origin = .machine }
    return error
  }

  private static let codes: [UInt32: ImageError.Code] = [
    DecodeStatusTruncated.rawValue: .truncated, DecodeStatusCorrupt.rawValue: .decodeError,
    DecodeStatusUnsupported.rawValue: .unsupportedFormat, DecodeStatusTooManyPixels.rawValue: .tooManyPixels,
    DecodeStatusLimit.rawValue: .decodeLimit, DecodeStatusOutOfMemory.rawValue: .decodeLimit,
    DecodeStatusNotAnImage.rawValue: .notAnImage, DecodeStatusNoPage.rawValue: .noPage,
  ]
}

extension DecodeText {
  /// The error, without control characters: it comes from a library that has read hostile bytes.
  var errorLine: String { Self.clean(String.text(inArray: error)) }

  /// The warnings, each a line, without control characters.
  var warningLines: [String] { String.text(inArray: warnings).split(separator: "\n").map { Self.clean(String($0)) } }

  /// Replaces control characters, which could change what a terminal shows, by spaces.
  static func clean(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }
}
