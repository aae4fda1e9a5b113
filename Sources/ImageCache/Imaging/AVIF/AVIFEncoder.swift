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

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    try file(of: try bitmap.fourSamples(), bitmap.size)
  }

  /// Encodes pixels of ``OutputFormat/rgba``. Throws `badSpec` if there are more than ``maxPixels``.
  func file(of samples: [UInt8], _ size: PixelSize) throws(ImageError) -> EncodedFile {
    guard size.area <= Self.maxPixels else { throw ImageError(.badSpec, ThumbnailSpec.tooLargeForAVIF(size)) }
    let memory = try SharedMemory(count: Self.memoryCount(size.area))
    memory.write(samples)
    do throws(DecoderFailure) {
      let file = try encode(memory, size)
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
