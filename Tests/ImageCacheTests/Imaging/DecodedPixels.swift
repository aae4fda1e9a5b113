import Foundation
import Testing

@testable import ImageCache

/// Decoded pixels as a plain value, always RGBA with straight alpha.
struct DecodedPixels: Equatable {
  var size: PixelSize
  /// Four samples per pixel, row after row.
  var samples: [UInt8]

  /// Decodes a file in its own colors, before its orientation is applied.
  init(file bytes: [UInt8]) throws {
    let file = try ImageFile(bytes.span, limits: DecodingLimits(maxPixels: 1_000_000), decoders: .missing)
    var warnings: [String] = []
    let image = WholeImage()
    try file.decode(bytes.span, colors: ColorTransformCache(), into: image, warnings: &warnings)
    self.init(image.samples[0], size: image.size, layout: image.shape.layout)
  }

  init(_ thumbnail: Thumbnail) throws { try self.init(file: thumbnail.bytes) }

  init(_ bitmap: borrowing Bitmap) {
    let plane = bitmap.planes[0]
    let count = bitmap.size.area * bitmap.layout.channels
    self.init(Array(UnsafeBufferPointer(start: plane.samples, count: count)), size: bitmap.size, layout: bitmap.layout)
  }

  private init(_ decoded: [UInt8], size: PixelSize, layout: PixelLayout) {
    self.size = size
    samples = Array(repeating: 255, count: size.area * 4)
    let (channels, step, hasAlpha) = (layout.channels, layout.isGray ? 0 : 1, layout.hasAlpha)
    // A loop over a range takes many times longer in a debug build.
    var (sample, source) = (0, 0)
    while sample < samples.count {
      samples[sample] = decoded[source]
      samples[sample + 1] = decoded[source + step]
      samples[sample + 2] = decoded[source + 2 * step]
      if hasAlpha { samples[sample + 3] = decoded[source + channels - 1] }
      (sample, source) = (sample + 4, source + channels)
    }
  }

  /// Encodes the pixels, which must be opaque, as a JPEG file without scaling.
  func jpeg(quality: Int) throws -> [UInt8] {
    let bitmap = try Bitmap(size: size, layout: .rgb)
    for index in 0..<size.area {
      for channel in 0..<3 { bitmap.planes[0].samples[index * 3 + channel] = samples[index * 4 + channel] }
    }
    return try JPEGEncoder(ThumbnailSpec(width: 1, quality: quality)).encode(bitmap)
  }

  /// Returns the four samples of a pixel.
  func at(_ x: Int, _ y: Int) -> [UInt8] { Array(samples[(y * size.width + x) * 4..<(y * size.width + x) * 4 + 4]) }

  /// Returns the mean absolute difference of each channel, with colors weighed by alpha.
  func meanError(to other: DecodedPixels) -> [Double] {
    (0..<4).map { channel in
      let sum = (0..<size.area).reduce(0.0) { sum, pixel in
        sum + abs(seen(pixel, channel) - other.seen(pixel, channel))
      }
      return sum / Double(size.area)
    }
  }

  /// Returns the largest mean absolute difference of a channel in an outer row or column. An error only at the edges
  /// hardly affects the mean of all pixels.
  func largestEdgeError(to other: DecodedPixels) -> Double {
    let (columns, rows) = (0..<size.width, 0..<size.height)
    let edges = [
      columns.map { $0 }, columns.map { $0 + (size.height - 1) * size.width },
      rows.map { $0 * size.width }, rows.map { $0 * size.width + size.width - 1 },
    ]
    let errors = edges.flatMap { edge in
      (0..<4).map { channel in
        edge.reduce(0.0) { $0 + abs(seen($1, channel) - other.seen($1, channel)) } / Double(edge.count)
      }
    }
    return errors.max() ?? 0
  }

  /// Returns the peak signal-to-noise ratio in decibels; 99 for equal pixels.
  func peakSignal(to other: DecodedPixels) -> Double {
    let squares = (0..<size.area * 4).reduce(0.0) { sum, index in
      let difference = seen(index / 4, index % 4) - other.seen(index / 4, index % 4)
      return sum + difference * difference
    }
    return squares == 0 ? 99 : 10 * log10(255 * 255 * Double(size.area * 4) / squares)
  }

  private func seen(_ pixel: Int, _ channel: Int) -> Double {
    let sample = Double(samples[pixel * 4 + channel])
    return channel == 3 ? sample : sample * Double(samples[pixel * 4 + 3]) / 255
  }
}
