import CDeflate

/// Small animated files, put together from frames.
public enum SampleAnimation {
  /// A frame of indices, each a color of ``palette`` or transparent.
  public struct Frame: Sendable {
    public var left: Int, top: Int, width: Int, height: Int
    /// One index per pixel, row after row.
    public var indices: [Int]
    /// The disposal method of the format.
    public var disposal: Int
    /// The blend operation of PNG, or the inverse bit of WebP.
    public var isOver: Bool
    /// Hundredths of a second.
    public var delay: Int

    /// Creates a frame; all of its pixels have the same index if only one is given.
    public init(
      left: Int = 0, top: Int = 0, width: Int, height: Int, _ indices: [Int], disposal: Int = 0, isOver: Bool = true,
      delay: Int = 10
    ) {
      (self.left, self.top, self.width, self.height) = (left, top, width, height)
      self.indices = indices.count == 1 ? Array(repeating: indices[0], count: width * height) : indices
      (self.disposal, self.isOver, self.delay) = (disposal, isOver, delay)
    }

    /// Red, green, blue and alpha of each pixel.
    public var samples: [UInt8] { indices.flatMap { SampleAnimation.samples($0) } }
  }

  /// Red, green and blue. The next index is transparent.
  public static let palette: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
  /// The index of transparent pixels.
  public static let clear = 3

  /// Returns red, green, blue and alpha of an index.
  public static func samples(_ index: Int) -> [UInt8] { index == clear ? [0, 0, 0, 0] : palette[index] + [255] }

  /// Returns a GIF file. Without `repetitions`, it has no extension of Netscape.
  public static func gif(width: Int, height: Int, repetitions: Int? = 0, _ frames: [Frame]) -> [UInt8] {
    let header = Array("GIF89a".utf8) + little(width) + little(height) + [0x81, 0, 0]
    let colors = palette.joined() + [0, 0, 0]
    let loop = repetitions.map { [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + little($0) + [0] } ?? []
    return header + colors + loop + frames.flatMap(gifBlocks) + [0x3B]
  }

  private static func gifBlocks(_ frame: Frame) -> [UInt8] {
    let control = [0x21, 0xF9, 4, UInt8(frame.disposal << 2 | 1)] + little(frame.delay) + [UInt8(clear), 0]
    let area = [frame.left, frame.top, frame.width, frame.height].flatMap(little)
    // The table is cleared before each code, so that all codes have three bits: 4 clears it, and 5 is the end.
    let codes = frame.indices.flatMap { [4, $0] } + [5]
    let bits = codes.flatMap { code in (0..<3).map { code >> $0 & 1 } }
    let data = stride(from: 0, to: bits.count, by: 8).map { start in
      UInt8(bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << $1.offset })
    }
    let blocks = stride(from: 0, to: data.count, by: 255).flatMap { start in
      [UInt8(min(255, data.count - start))] + data[start..<min(start + 255, data.count)]
    }
    return control + [0x2C] + area + [0, 2] + blocks + [0]
  }

  /// Returns an animated PNG file that is shown `plays` times. If `hasStill`, its first image is no frame.
  public static func png(
    width: Int, height: Int, plays: Int = 0, hasStill: Bool = false, _ frames: [Frame]
  ) -> [UInt8] {
    let header = SampleImage.pngChunk("IHDR", big(width) + big(height) + [8, 6, 0, 0, 0])
    let control = SampleImage.pngChunk("acTL", big(frames.count) + big(plays))
    let still = Frame(width: width, height: height, [clear])
    var (chunks, number) = (hasStill ? SampleImage.pngChunk("IDAT", compressed(still)) : [], 0)
    for (index, frame) in frames.enumerated() {
      let numbers = [number, frame.width, frame.height, frame.left, frame.top].flatMap(big)
      let delay = [frame.delay, 100].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
      let end = [UInt8(frame.disposal), frame.isOver ? 1 : 0]
      chunks += SampleImage.pngChunk("fcTL", numbers + delay + end)
      let isFirst = index == 0 && !hasStill
      chunks += SampleImage.pngChunk(
        isFirst ? "IDAT" : "fdAT", (isFirst ? [] : big(number + 1)) + compressed(frame))
      number += isFirst ? 1 : 2
    }
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    return signature + header + control + chunks + SampleImage.pngChunk("IEND", [])
  }

  /// Returns the rows of a frame, without filters, in the zlib format.
  private static func compressed(_ frame: Frame) -> [UInt8] {
    let samples = frame.samples
    let stride = 4 * frame.width
    var rows: [UInt8] = []
    for row in 0..<frame.height {
      rows.append(0)
      rows += samples[row * stride..<(row + 1) * stride]
    }
    let compressor = libdeflate_alloc_compressor(6)
    defer { libdeflate_free_compressor(compressor) }
    let capacity = libdeflate_zlib_compress_bound(compressor, rows.count)
    return [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
      count = libdeflate_zlib_compress(compressor, rows, rows.count, room.baseAddress, capacity)
    }
  }

  /// Returns an animated WebP file that is shown `loops` times. `chunk` returns the image data of a frame as one chunk.
  public static func webp(
    width: Int, height: Int, loops: Int = 0, _ frames: [Frame], chunk: (Frame) throws -> [UInt8]
  ) rethrows -> [UInt8] {
    let extended = riffChunk("VP8X", [0x12, 0, 0, 0] + little24(width - 1) + little24(height - 1))
    let animation = riffChunk("ANIM", [0, 0, 0, 0] + little(loops))
    let images = try frames.flatMap { frame in
      let area = [frame.left / 2, frame.top / 2, frame.width - 1, frame.height - 1, frame.delay * 10]
      let flags = UInt8(frame.disposal | (frame.isOver ? 0 : 2))
      return riffChunk("ANMF", area.flatMap(little24) + [flags] + (try chunk(frame)))
    }
    let body = Array("WEBP".utf8) + extended + animation + images
    return riffChunk("RIFF", body)
  }

  private static func riffChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let size = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> (8 * $0)) }
    return Array(type.utf8) + size + data + Array(repeating: 0, count: data.count % 2)
  }

  private static func little(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
  private static func little24(_ value: Int) -> [UInt8] { little(value & 0xFFFF) + [UInt8(value >> 16)] }
  private static func big(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
