import CImage

/// Real image files of any size, generated and identical on every run.
///
/// The pixels are smooth waves of color with the phase `seed`, so each seed gives different bytes.
public enum SampleImage {
  /// Returns a color JPEG of quality 85.
  public static func jpeg(width: Int, height: Int, seed: Int = 0) -> [UInt8] {
    encoded(width: width, height: height, channels: 3, seed: seed) { bitmap, file, capacity, written, messages in
      let options = CImageJPEGEncoding(quality: 85, chromaStep: 2, scans: .baseline)
      return cimage_jpeg_encode(bitmap, options, file, capacity, written, messages)
    }
  }

  /// Returns a PNG with an alpha channel that fades from left to right.
  public static func png(width: Int, height: Int, seed: Int = 0) -> [UInt8] {
    encoded(width: width, height: height, channels: 4, seed: seed) { bitmap, file, capacity, written, messages in
      cimage_png_encode(bitmap, file, capacity, written, messages)
    }
  }

  /// Returns a PNG of less than 100 bytes whose header declares `width` by `height` pixels, but which contains none.
  /// An interlaced file is decoded as a whole.
  public static func pngHeader(width: Int, height: Int, isInterlaced: Bool = false) -> [UInt8] {
    let size = [width, height].flatMap { bigEndian(UInt32($0)) }
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + pngChunk("IHDR", size + [8, 2, 0, 0, isInterlaced ? 1 : 0]) + pngChunk("IDAT", [0x78, 0x9C])
      + pngChunk("IEND", [])
  }

  /// Returns one PNG chunk: length, type, data and CRC (PNG Specification, section 5.3).
  public static func pngChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    return bigEndian(UInt32(data.count)) + body + bigEndian(crc32(body))
  }

  private typealias Encode = (
    CImageBitmap, UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CImageMessages>
  ) -> CImageStatus

  private static func encoded(width: Int, height: Int, channels: Int, seed: Int, with encode: Encode) -> [UInt8] {
    var samples = pixels(width: width, height: height, channels: channels, seed: seed)
    var messages = CImageMessages()
    return samples.withUnsafeMutableBufferPointer { pixels in
      guard let start = pixels.baseAddress else { return [] }
      let bitmap = CImageBitmap(
        pixels: start, width: Int32(width), height: Int32(height), channels: Int32(channels), stride: width * channels)
      return [UInt8](unsafeUninitializedCapacity: cimage_encoded_bound(bitmap)) { file, count in
        guard let first = file.baseAddress else { return }
        let status = encode(bitmap, first, file.count, &count, &messages)
        precondition(status == .OK, "A sample image could not be encoded.")
      }
    }
  }

  private static func pixels(width: Int, height: Int, channels: Int, seed: Int) -> [UInt8] {
    var samples: [UInt8] = []
    samples.reserveCapacity(width * height * channels)
    for y in 0..<height {
      for x in 0..<width {
        for channel in 0..<min(channels, 3) {
          samples.append(wave(x * (channel + 1) + y * (3 - channel) + seed * 37 + channel * 80))
        }
        if channels == 4 { samples.append(UInt8(255 - 255 * x / width)) }
      }
    }
    return samples
  }

  /// Returns a triangle wave: up from 0 to 255 and down again.
  private static func wave(_ position: Int) -> UInt8 {
    let phase = position & 511
    return UInt8(phase < 256 ? phase : 511 - phase)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// Returns the CRC of `bytes` (PNG Specification, annex D).
  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }
  }
}
