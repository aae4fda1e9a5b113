import CDecodeChannel
import CImage

extension SourceFormat {
  /// AVIF, decoded by `thumbs-decode`.
  public static let avif = SourceFormat(rawValue: "avif", mediaType: "image/avif")
}

extension OutputFormat {
  /// AVIF, encoded by `thumbs-decode`. Part of ``all`` only if that program is installed.
  public static let avif = OutputFormat(rawValue: "avif", mediaType: "image/avif", fileExtension: "avif")
}

/// Encodes AVIF files in a process of `thumbs-decode`.
///
/// The process has decoded no image: one that an image has taken over could return any file.
struct AVIFEncoder: ThumbnailEncoder {
  /// The quality, 1 to 100, on the scale of JPEG.
  let quality: Int
  let encoders: DecoderPool

  /// Clamps the quality of the spec.
  init(_ spec: ThumbnailSpec, _ encoders: DecoderPool) {
    quality = min(max(spec.quality, 1), 100)
    self.encoders = encoders
  }

  /// Throws `badSpec` if the program is not installed.
  static func check(_ encoders: DecoderPool) throws(ImageError) {
    guard encoders.isInstalled else {
      throw ImageError(.badSpec, "AVIF output needs the program thumbs-decode; install the package thumbs-decoders.")
    }
  }

  /// Only the pixels decide whether the file has chroma of half the resolution.
  let chromaStep = 1

  /// The samples, the memory that is shared with the process, and that of the encoder.
  func peakBytes(forPixels count: Int) -> Int { count * (8 + 32) + Self.memoryCount(count) }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  /// Files are in sRGB or Display P3.
  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    try file(of: try bitmap.fourSamples(), bitmap.size, colors)
  }

  /// Encodes pixels of ``OutputFormat/rgba``. Throws `badSpec` if there are more than ``maxPixels``.
  func file(
    of samples: [UInt8], _ size: PixelSize, _ colors: FileColors = .sRGB
  ) throws(ImageError) -> EncodedFile {
    guard size.area <= Self.maxPixels else { throw ImageError(.badSpec, ThumbnailSpec.tooLargeForAVIF(size)) }
    let memory = try SharedMemory(count: Self.memoryCount(size.area))
    memory.write(samples)
    do throws(DecoderFailure) {
      let file = try encode(memory, size, colors)
      return EncodedFile(format: .avif, bytes: ThumbnailMark.adding(to: file, by: Self.self))
    } catch {
      throw ImageError(error.code, "The AVIF thumbnail cannot be encoded: \(error.sentenceEnd).", origin: .machine)
    }
  }
}

extension DecoderFailure {
  fileprivate var sentenceEnd: String {
    if case .refusal(_, let reason) = self { reason } else { "thumbs-decode failed: \(reason)" }
  }
}

extension AVIFEncoder: MarkedFormat {
  static let format = OutputFormat.avif

  /// At the end: a file has the offsets of its parts.
  static func commentOffset(inFileOf count: Int) -> Int { count }

  /// Returns a box of free space, which readers skip (ISO/IEC 14496-12:2022, section 8.1.2).
  static func comment(_ text: String) -> [UInt8] {
    [0, 0, 0, UInt8(truncatingIfNeeded: 8 + text.utf8.count)] + Array("free\(text)".utf8)
  }

  static func mayHold(_ comment: ArraySlice<UInt8>, _ ends: FileEnds) -> Bool {
    ends.prefix.dropFirst(4).starts(with: "ftypavif".utf8)
      && ends.suffix.suffix(ThumbnailMark.count(in: Self.self)).starts(with: comment)
  }
}

extension AVIFEncoder {
  /// The number of pixels that the encoder accepts: it takes about 32 bytes and half a microsecond for each.
  static let maxPixels = 1 << 24

  /// Returns the bytes of memory for the pixels, and for a file that takes their place: twice the pixels is more than
  /// AV1 ever needs.
  private static func memoryCount(_ pixels: Int) -> Int { pixels * 8 + (64 << 10) }

  /// Encodes the pixels at the start of `memory` in a process, which replaces them by the file. Returns a copy
  /// of it, which is one of this size.
  func encode(
    _ memory: SharedMemory, _ size: PixelSize, _ colors: FileColors = .sRGB
  ) throws(DecoderFailure) -> [UInt8] {
    let pixels = CImageBitmap(
      pixels: memory.start.assumingMemoryBound(to: UInt8.self), width: Int32(size.width), height: Int32(size.height),
      channels: 4, stride: size.width * 4)
    cimage_fill_transparent(pixels)
    let request = request(pixels, colors)
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

  private func request(_ pixels: CImageBitmap, _ colors: FileColors) -> DecodeRequest {
    var request = DecodeRequest(step: DecodeStepEncode)
    request.format = DecodeFormatAVIF.rawValue
    (request.width, request.height) = (UInt32(pixels.width), UInt32(pixels.height))
    request.primaries = colors.primaries
    request.quantizer = UInt32(AVIFQuality.quantizer(for: quality))
    // Full chroma from the quality at which JPEG has it, too, and for drawings, whose colored edges would blur.
    request.chromaStep = quality >= 90 || cimage_content(pixels) == .drawing ? 1 : 2
    return request
  }
}

extension AVIFEncoder {
  /// Returns the size in the first image spatial extents property (ISO/IEC 23008-12:2022, section 6.5.3), which is that
  /// of the image in every file of ``AVIFEncoder``. Nil for other files.
  static func size(of file: Span<UInt8>) -> PixelSize? {
    guard file.has("ftypavif", at: 4), let meta = contents("meta", in: 0..<file.count, of: file),
      // Version and flags come first.
      let properties = contents("iprp", in: meta.dropFirst(4), of: file),
      let container = contents("ipco", in: properties, of: file),
      let extents = contents("ispe", in: container, of: file), extents.count >= 12,
      let width = file.uint32(at: extents.lowerBound + 4), let height = file.uint32(at: extents.lowerBound + 8)
    else { return nil }
    return PixelSize(width: width, height: height)
  }

  /// The end of the last box.
  static func end(of file: Span<UInt8>) -> Int? {
    var offset = 0
    while let size = file.uint32(at: offset), size >= 8, size <= file.count - offset { offset += size }
    return offset
  }

  /// Returns the place of the contents of the first box of a type (ISO/IEC 14496-12:2022, section 4.2).
  private static func contents(_ type: StaticString, in boxes: Range<Int>, of file: Span<UInt8>) -> Range<Int>? {
    var rest = boxes
    while let size = file.uint32(at: rest.lowerBound), size >= 8, size <= rest.count {
      let end = rest.lowerBound + size
      if file.has(type, at: rest.lowerBound + 4) { return rest.lowerBound + 8..<end }
      rest = end..<rest.upperBound
    }
    return nil
  }
}

/// Converts the quality of JPEG to the quantizer of AV1.
enum AVIFQuality {
  /// The quality of JPEG, and the quantizer of libaom with the same mean structural similarity of luma, over photos at
  /// 256 and 512 pixels; the ratio of the sizes is in the documentation of formats. Measured by
  /// `Benchmarks/quality/match.py`.
  private static let table: [(jpeg: Float, avif: Float)] = [
    (1, 63), (10, 53), (20, 43), (30, 38.5), (40, 35.5), (50, 33), (60, 30.5), (70, 27.5), (75, 25.5), (82, 21),
    (85, 18), (89, 13.5), (90, 12), (93, 8.5), (95, 5.5), (98, 0),
  ]

  /// Returns the quantizer, 63 to 0, which falls with `quality`, 1 to 100.
  static func quantizer(for quality: Int) -> Int {
    let quality = Float(quality)
    for (low, high) in zip(table, table.dropFirst()) where quality <= high.jpeg {
      let part = (max(quality, low.jpeg) - low.jpeg) / (high.jpeg - low.jpeg)
      return Int((low.avif + (high.avif - low.avif) * part).rounded())
    }
    return 0
  }
}
