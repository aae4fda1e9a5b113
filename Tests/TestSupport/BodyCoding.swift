import CDeflate

/// Encoders for the content codings and transfer codings of HTTP.
public enum BodyCoding {
  /// Encodes with `gzip` (RFC 1952).
  public static func gzip(_ bytes: [UInt8]) -> [UInt8] { compressed(bytes, by: libdeflate_gzip_compress) }

  /// Encodes with `deflate` as RFC 9110 defines it: the zlib format (RFC 1950).
  public static func zlib(_ bytes: [UInt8]) -> [UInt8] { compressed(bytes, by: libdeflate_zlib_compress) }

  /// Encodes with `deflate` as some servers misread it: without the zlib wrapper (RFC 1951).
  public static func rawDeflate(_ bytes: [UInt8]) -> [UInt8] { compressed(bytes, by: libdeflate_deflate_compress) }

  /// Encodes with `br` (RFC 7932): one uncompressed meta-block, so at most 64 KiB, and an empty last one.
  public static func brotli(_ bytes: [UInt8]) -> [UInt8] {
    littleEndian(UInt32(bytes.count - 1) << 4 | 1 << 20, count: 3) + bytes + [0x03]
  }

  /// Encodes with `zstd` (RFC 8878): a frame of one raw block, so at most 128 KiB.
  public static func zstd(_ bytes: [UInt8]) -> [UInt8] {
    [0x28, 0xB5, 0x2F, 0xFD, 0xA0] + littleEndian(UInt32(bytes.count), count: 4)
      + littleEndian(UInt32(bytes.count) << 3 | 1, count: 3) + bytes
  }

  /// Encodes with `chunked` (RFC 9112, section 7.1): one chunk per `size` bytes, then `rest`.
  public static func chunked(_ bytes: [UInt8], size: Int, rest: String = "0\r\n\r\n") -> [UInt8] {
    stride(from: 0, to: bytes.count, by: size).flatMap { start in
      let chunk = bytes[start...].prefix(size)
      return Array("\(String(chunk.count, radix: 16));name=\"a;b\"\r\n".utf8) + chunk + Array("\r\n".utf8)
    } + Array(rest.utf8)
  }

  private static func compressed(
    _ bytes: [UInt8], by compress: (OpaquePointer?, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, Int) -> Int
  ) -> [UInt8] {
    let compressor = libdeflate_alloc_compressor(9)
    defer { libdeflate_free_compressor(compressor) }
    var output = [UInt8](repeating: 0, count: bytes.count + 1024)
    let count = compress(compressor, bytes, bytes.count, &output, output.count)
    return Array(output[..<count])
  }

  private static func littleEndian(_ value: UInt32, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
