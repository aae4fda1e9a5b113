import CDecodeChannel
import CImage

extension AVIFEncoder {
  /// The number of pixels that the encoder accepts: it takes about 32 bytes and half a microsecond for each.
  static let maxPixels = 1 << 24

  /// Returns the bytes of memory for the pixels, and for a file that takes their place: twice the pixels is more than
  /// AV1 ever needs.
  static func memoryCount(_ pixels: Int) -> Int { pixels * 8 + (64 << 10) }

  /// Encodes the pixels at the start of `memory` in a process, which replaces them by the file. Returns a copy
  /// of it, which is one of this size.
  func encode(_ memory: SharedMemory, _ size: PixelSize) throws(DecoderFailure) -> [UInt8] {
    let pixels = CImageBitmap(
      pixels: memory.start.assumingMemoryBound(to: UInt8.self), width: Int32(size.width), height: Int32(size.height),
      channels: 4, stride: size.width * 4)
    cimage_fill_transparent(pixels)
    let request = request(pixels)
    return try encoders.withProcess { process throws(DecoderFailure) in
      guard process.hello.encodes(.avif) else { throw .refusal(.unsupportedFormat, DecoderCondition.encoderIsMissing) }
      let reply = try process.exchange(request, memory.descriptor, until: .now + timeout(size))
      if let error = try reply.error() { throw .refusal(error.code, reply.text.errorLine) }
      guard 1...memory.count ~= Int(clamping: reply.byteCount) else {
        throw .misbehavior("it sent a file without a size")
      }
      let file = memory.copied(0..<Int(reply.byteCount))
      guard Self.size(ofWhole: file.span) == size else { throw .misbehavior("it sent another file than an AVIF image") }
      return file
    }
  }

  /// The timeout of a decoder, and as much again for every eight megapixels.
  private func timeout(_ size: PixelSize) -> Duration { encoders.timeout * (1 + Double(size.area) / 8e6) }

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
