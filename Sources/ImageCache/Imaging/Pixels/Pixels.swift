/// The pixels of a thumbnail: red, green, blue and alpha of each, 8 bits each, in sRGB with straight alpha.
///
/// A spec of the format ``ThumbnailSpec/Format/rgba`` gives pixels in place of a file:
///
/// ```swift
/// let rendering = try Renderer().render(bytes, specs: [ThumbnailSpec(width: 256, format: .rgba)])
/// if let pixels = rendering.thumbnails[0].pixels {
///   upload(pixels.bytes, width: pixels.size.width, height: pixels.size.height, bytesPerRow: pixels.bytesPerRow)
/// }
/// ```
public struct Pixels: Hashable, Sendable {
  /// The size.
  public let size: PixelSize
  /// The samples, row after row from the top without gaps: four times as many as pixels.
  public private(set) var bytes: [UInt8]

  /// The number of bytes from one row to the next: four times the width.
  public var bytesPerRow: Int { 4 * size.width }

  /// Creates pixels of `size`; nil unless a side has at least one pixel and each pixel has four `bytes`.
  public init?(size: PixelSize, bytes: [UInt8]) {
    guard size.width > 0, size.height > 0, bytes.count % 4 == 0, bytes.count / 4 == size.area else { return nil }
    (self.size, self.bytes) = (size, bytes)
  }

  fileprivate init(_ bitmap: borrowing Bitmap) throws(ImageError) {
    (size, bytes) = (bitmap.size, try bitmap.fourSamples())
  }

  /// Red, green, blue and alpha of the pixel in a column and a row, both from 0. Traps for one outside.
  public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
    get {
      let start = start(x, y)
      return SIMD4(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3])
    }
    set {
      let start = start(x, y)
      for channel in 0..<4 { bytes[start + channel] = newValue[channel] }
    }
  }

  private func start(_ x: Int, _ y: Int) -> Int {
    precondition((0..<size.width).contains(x) && (0..<size.height).contains(y), "The pixel is outside of the image.")
    return y * bytesPerRow + 4 * x
  }

  /// Calls `body` with all samples, to change many of them in place.
  public mutating func change<Failure: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var samples = bytes.mutableSpan
    try body(&samples)
  }
}

extension Thumbnail {
  /// The pixels; nil unless the ``format`` is ``OutputFormat/rgba``.
  public var pixels: Pixels? { format == .rgba ? Pixels(size: size, bytes: bytes) : nil }
}

/// Changes the pixels of each thumbnail after scaling and before encoding: rounds corners, or adds a watermark.
///
/// ```swift
/// renderer.process = PixelProcess(id: "gray 1") { pixels in
///   pixels.change { samples in
///     for red in stride(from: 0, to: samples.count, by: 4) { samples[red + 1] = samples[red] }
///   }
/// }
/// ```
///
/// It is called on a thread that renders, and on several at a time. An error that it throws fails the image with
/// `bad_spec`.
public struct PixelProcess: Sendable {
  /// Changes the pixels of one thumbnail.
  public typealias Change = @Sendable (_ pixels: inout Pixels) throws -> Void

  /// Stands for what the process does, and is a part of the key of a cache entry. Processes with the same id count as
  /// equal; change the id whenever the result changes.
  public let id: String
  private let change: Change

  /// Creates a process with `id`.
  public init(id: String, _ change: @escaping Change) {
    self.id = id
    self.change = change
  }

  fileprivate func processed(_ bitmap: borrowing Bitmap) throws(ImageError) -> Pixels {
    var pixels = try Pixels(bitmap)
    do {
      try change(&pixels)
    } catch {
      throw ImageError(.badSpec, "The pixels could not be processed by \"\(id)\": \(error)")
    }
    guard pixels.size == bitmap.size else {
      throw ImageError(.badSpec, "The process \"\(id)\" has changed the size of the pixels.")
    }
    return pixels
  }
}

extension PixelProcess: Hashable {
  /// Compares the ids.
  public static func == (a: PixelProcess, b: PixelProcess) -> Bool { a.id == b.id }

  /// Hashes the id.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Encodes pixels that a process has changed.
struct ProcessingEncoder: ThumbnailEncoder {
  let process: PixelProcess
  let spec: ThumbnailSpec
  let usual: any ThumbnailEncoder

  let chromaStep = 1

  func peakBytes(forPixels count: Int) -> Int { usual.peakBytes(forPixels: count) + 12 * count }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    let processed = try Bitmap(try process.processed(bitmap))
    return try usual.file(of: spec.flattened(processed, for: usual), colors: colors)
  }
}

extension Bitmap {
  /// Creates a bitmap of the same pixels.
  init(_ pixels: Pixels) throws(ImageError) {
    try self.init(size: pixels.size, layout: .rgba)
    write { samples in for index in pixels.bytes.indices { samples[index] = pixels.bytes[index] } }
  }
}
