import CImage
import Synchronization

/// Encodes the frames of one thumbnail as an animated file, one at a time. As an encoder of thumbnails, it takes a
/// frame and returns an empty file.
final class AnimationEncoder: ThumbnailEncoder {
  private let spec: ThumbnailSpec
  private let size: PixelSize
  private let animation: any AnimationFile
  /// The time at which the next frame appears, in milliseconds.
  private let start = Atomic(0)

  /// Creates the encoder of a thumbnail of this size.
  ///
  /// - Parameters:
  ///   - isLossless: True if every frame of a WebP file is lossless. Otherwise, only those with few colors are.
  ///   - loops: The number of times that the animation is shown; 0 for ever.
  init(_ spec: ThumbnailSpec, size: PixelSize, isLossless: Bool, loops: Int) throws(ImageError) {
    (self.spec, self.size) = (spec, size)
    animation = try spec.animationFile(size: size, isLossless: isLossless, loops: loops)
  }

  var chromaStep: Int { animation.chromaStep }

  func peakBytes(forPixels count: Int) -> Int { animation.peakBytes(forPixels: count) }

  /// Returns the number of bytes that the encoder keeps until the end of the animation, estimated generously.
  func keptBytes(frames: Int) -> Int { type(of: animation).keptBytes(forPixels: size.area, frames: frames) }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  /// Sets the time at which the next frame appears, in milliseconds.
  func show(at time: Int) { start.store(time, ordering: .relaxed) }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    guard bitmap.size == size else { throw ImageError(.decodeError, "A frame is \(bitmap.size), not \(size).") }
    try animation.add(bitmap, at: start.load(ordering: .relaxed))
    return EncodedFile(format: spec.animationFormat, bytes: [])
  }

  /// Returns the thumbnail, which ends after this time in milliseconds. Call it once, after at least one frame.
  func thumbnail(length: Int) throws(ImageError) -> Thumbnail {
    let file = ThumbnailMark.adding(to: try animation.finish(at: length), by: type(of: animation).format)
    return Thumbnail(spec: spec, size: size, format: spec.animationFormat, bytes: file)
  }
}

/// An animated file that is being written. Only the thread that renders an image uses it.
protocol AnimationFile: AnyObject, Sendable {
  /// The format of the file, and of its mark.
  static var format: any ImageEncoder.Type { get }

  /// The number of pixels per chroma sample in each direction.
  var chromaStep: Int { get }

  /// Returns the number of bytes that the encoder needs for a frame of `count` pixels, estimated generously.
  func peakBytes(forPixels count: Int) -> Int

  /// Returns the number of bytes that are kept from one frame to the next, estimated generously.
  static func keptBytes(forPixels count: Int, frames: Int) -> Int

  /// Adds a frame that appears after this time in milliseconds.
  func add(_ frame: borrowing Bitmap, at start: Int) throws(ImageError)

  /// Returns the whole file, which ends after this time in milliseconds. Call it once, after at least one frame.
  func finish(at end: Int) throws(ImageError) -> [UInt8]
}

extension ThumbnailSpec {
  /// The format of an animated thumbnail.
  var animationFormat: OutputFormat { format == .gif ? .gif : .webp }

  fileprivate func animationFile(
    size: PixelSize, isLossless: Bool, loops: Int
  ) throws(ImageError) -> any AnimationFile {
    if format == .gif { return try GIFFile(size: size, loops: loops) }
    #if WebP
      return try WebPFile(self, size: size, isLossless: isLossless, loops: loops)
    #else
      throw ImageError(.badSpec, "Animated WebP files need a build with the package trait WebP.")
    #endif
  }
}

extension CImageCall {
  /// Returns the bytes of a file, and frees them.
  static func array(of bytes: UnsafeMutablePointer<UInt8>?, count: Int) throws(ImageError) -> [UInt8] {
    guard let bytes else { throw ImageError(.outOfMemory, "Out of memory for the thumbnail.") }
    defer { free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}

#if WebP
  /// An animated WebP file that is being written.
  private final class WebPFile: AnimationFile {
    static let format: any ImageEncoder.Type = WebPEncoder.self

    private let isLossless: Bool
    /// The C encoder. `nonisolated(unsafe)` is correct, because only one thread uses it.
    nonisolated(unsafe) private let handle: OpaquePointer

    init(_ spec: ThumbnailSpec, size: PixelSize, isLossless: Bool, loops: Int) throws(ImageError) {
      guard max(size.width, size.height) <= ThumbnailSpec.longestWebPSide else {
        throw ImageError(.badSpec, ThumbnailSpec.tooLongForWebP(size))
      }
      let quality = WebPQuality.factor(for: min(max(spec.quality, 1), 100))
      let options = CImageWebPEncoding(quality: quality, isLossless: isLossless ? 1 : 0)
      // Two bytes of the file.
      let loops = Int32(min(loops, 0xFFFF))
      var handle: OpaquePointer?
      try CImageCall.run {
        cimage_animation_create(Int32(size.width), Int32(size.height), options, loops, &handle, $0)
      }
      guard let handle else { throw ImageError(.outOfMemory, "Out of memory for the animation.") }
      (self.isLossless, self.handle) = (isLossless, handle)
    }

    deinit { cimage_animation_destroy(handle) }

    var chromaStep: Int { isLossless ? 1 : 2 }

    /// As for still images, besides four canvases of libwebp.
    func peakBytes(forPixels count: Int) -> Int { (1 << 20) + count * 116 }

    /// The canvases and the files of all frames that libwebp keeps.
    static func keptBytes(forPixels count: Int, frames: Int) -> Int { count * (20 + frames) }

    func add(_ frame: borrowing Bitmap, at start: Int) throws(ImageError) {
      let view = frame.planes[0].view
      try CImageCall.run { cimage_animation_add(handle, view, Int32(clamping: start), $0) }
    }

    func finish(at end: Int) throws(ImageError) -> [UInt8] {
      var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
      try CImageCall.run { cimage_animation_finish(handle, Int32(clamping: end), &bytes, &count, $0) }
      return try CImageCall.array(of: bytes, count: count)
    }
  }
#endif
