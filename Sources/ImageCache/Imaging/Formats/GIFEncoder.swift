import CImage

extension OutputFormat {
  /// GIF (CompuServe, version 89a).
  public static let gif = OutputFormat(rawValue: "gif", mediaType: "image/gif", fileExtension: "gif")
}

/// Encodes still GIF files: without losses if there are at most 256 colors, one of which may be transparent, and
/// otherwise with the colors that have the least error, mixed by dithering.
struct GIFEncoder: ImageEncoder {
  static let format = OutputFormat.gif

  let chromaStep = 1

  init(_ spec: ThumbnailSpec) {}

  /// The tables that find colors, three copies of the pixels with 4, 4 and 1 bytes each, and the file while it grows.
  func peakBytes(forPixels count: Int) -> Int { (2 << 20) + count * 12 }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8] {
    let file = try GIFFile(size: bitmap.size, loops: 1)
    try file.add(bitmap, at: 0)
    return try file.finish(at: 0)
  }

  /// After the header and the logical screen descriptor, because there is no global color table.
  static let commentOffset = 13

  /// Files are in sRGB.
  static func declaring(_ colors: FileColors, profile: [UInt8], in file: [UInt8]) -> [UInt8] { file }

  /// Returns a comment extension (GIF89a, section 24).
  static func comment(_ text: String) -> [UInt8] {
    [GIFBlock.extensionBlock, 0xFE, UInt8(truncatingIfNeeded: text.utf8.count)] + text.utf8 + [0]
  }

  /// The end of the trailer (GIF89a, section 27).
  static func end(of file: Span<UInt8>) -> Int? {
    guard file.count > 13 else { return nil }
    var offset = GIFHeaderReader.palette(flags: file[10], at: 13)?.upperBound ?? 13
    while offset < file.count, file[offset] != GIFBlock.trailer {
      var data = offset + 2
      if file[offset] == GIFBlock.frame {
        guard let frame = GIFHeaderReader.frame(file, at: offset) else { return nil }
        data = frame.dataStart + 1
      } else if file[offset] != GIFBlock.extensionBlock {
        return nil
      }
      guard let end = GIFBlock.end(ofDataAt: data, in: file) else { return nil }
      offset = end
    }
    return offset < file.count ? offset + 1 : nil
  }
}

/// A GIF file that is being written, frame by frame. Only the thread that renders an image uses it.
final class GIFFile: AnimationFile {
  static let format: any ImageEncoder.Type = GIFEncoder.self

  let chromaStep = 1
  /// The C encoder. `nonisolated(unsafe)` is correct, because only one thread uses it.
  nonisolated(unsafe) private let handle: OpaquePointer

  /// - Parameter loops: The number of times that an animation is shown; 0 for ever.
  init(size: PixelSize, loops: Int) throws(ImageError) {
    // Two bytes of the file.
    guard max(size.width, size.height) <= 0xFFFF else {
      throw ImageError(.badSpec, "The size is \(size); in GIF, each side must be at most 65535 pixels.")
    }
    var handle: OpaquePointer?
    let loops = Int32(min(loops, 0x1_0000))
    try CImageCall.run { _ in cimage_gif_create(Int32(size.width), Int32(size.height), loops, &handle) }
    guard let handle else { throw ImageError(.outOfMemory, "Out of memory for the thumbnail.") }
    self.handle = handle
  }

  deinit { cimage_gif_destroy(handle) }

  /// The table of codes.
  func peakBytes(forPixels count: Int) -> Int { 1 << 20 }

  /// The tables that find colors, the last frame, its indices and the canvas, and the file: a byte and a half per pixel
  /// at most, usually less than one, of which there are up to three copies at the end.
  static func keptBytes(forPixels count: Int, frames: Int) -> Int { (1 << 20) + count * (9 + 3 * frames) }

  func add(_ frame: borrowing Bitmap, at start: Int) throws(ImageError) {
    let view = frame.planes[0].view
    try CImageCall.run { _ in cimage_gif_add(handle, view, Int32(clamping: start)) }
  }

  func finish(at end: Int) throws(ImageError) -> [UInt8] {
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    try CImageCall.run { _ in cimage_gif_finish(handle, Int32(clamping: end), &bytes, &count) }
    return try CImageCall.array(of: bytes, count: count)
  }
}
