import CDecodeChannel
import CImage

extension AVIFEncoder {
  /// Returns the bytes of memory for the pixels, and for a file that takes their place: twice the pixels is more than
  /// AV1 ever needs.
  static func memoryCount(_ pixels: Int) -> Int { pixels * 8 + (64 << 10) }

  /// Encodes the pixels at the start of `memory` in a process, which replaces them.
  func encoded(
    _ memory: borrowing SharedMemory, _ size: PixelSize
  ) throws(DecoderFailure) -> Result<[UInt8], ImageError> {
    let pixels = CImageBitmap(
      pixels: memory.start.assumingMemoryBound(to: UInt8.self), width: Int32(size.width), height: Int32(size.height),
      channels: 4, stride: size.width * 4)
    let (request, descriptor, count) = (request(pixels), memory.descriptor, memory.count)
    let answer = try encoders.withProcess { process throws(DecoderFailure) -> Result<Int, ImageError> in
      guard process.hello.encodes(.avif) else { return .failure(Self.lacksEncoder) }
      let reply = try process.exchange(request, descriptor, until: .now + timeout(size))
      if let error = try reply.error() { return .failure(ImageError(error.code, error.message, origin: .machine)) }
      guard 1...count ~= Int(clamping: reply.byteCount) else { throw .misbehavior("it sent a file without a size") }
      return .success(Int(reply.byteCount))
    }
    let bytes = memory.bytes
    return answer.map { Array(bytes.prefix($0)) }
  }

  private static let lacksEncoder = ImageError(
    .unsupportedFormat, "AVIF output needs libavif with libaom, which was missing when thumbs-decode was built.",
    origin: .machine)

  /// The time for a decoder, and the same again for every four megapixels: one megapixel takes half a second on one
  /// processor.
  private func timeout(_ size: PixelSize) -> Duration { encoders.timeout * (1 + Double(size.area) / 4e6) }

  private func request(_ pixels: CImageBitmap) -> DecodeRequest {
    var request = DecodeRequest(step: DecodeStepEncode)
    request.format = DecodeFormatAVIF.rawValue
    (request.width, request.height) = (UInt32(pixels.width), UInt32(pixels.height))
    request.quantizer = UInt32(AVIFQuality.quantizer(for: quality))
    // Full chroma from the quality at which JPEG has it, too, and for drawings, whose colored edges would blur.
    request.chromaStep = quality >= 90 || cimage_content(pixels) == .drawing ? 1 : 2
    return request
  }
}
