import CImage

/// Samples and the memory that holds them. The single owner frees the memory; accidental copies do not compile.
struct Bitmap: ~Copyable {
  /// The layout of the samples.
  let layout: PixelLayout
  /// One plane of interleaved samples, or for ``PixelLayout/planes`` luma and two chroma planes.
  let planes: [Plane]
  private let memory: UnsafeMutablePointer<UInt8>

  /// The size of the first plane.
  var size: PixelSize { planes[0].size }

  /// Allocates pixels of `size`, each side at least 1, that show a whole image of the same size. Their content is
  /// undefined. Like the other initializer, throws `outOfMemory` if the allocation fails.
  init(size: PixelSize, layout: PixelLayout) throws(ImageError) {
    try self.init(layout: layout, planes: [PlaneShape(size: size, area: PixelBox(size: size))])
  }

  /// Allocates planes of these shapes, without gaps between their rows.
  init(layout: PixelLayout, planes shapes: [PlaneShape]) throws(ImageError) {
    memory = try CImageCall.allocate(shapes.reduce(0) { $0 + $1.size.area * layout.channels })
    self.layout = layout
    var next = memory
    planes = shapes.map { shape in
      defer { next += shape.size.area * layout.channels }
      return Plane(samples: next, shape: shape, channels: layout.channels)
    }
  }

  deinit { CImageCall.free(memory) }
}

// MARK: Orientation

extension Bitmap {
  /// Returns the bitmap with `orientation` applied.
  consuming func oriented(_ orientation: Orientation) throws(ImageError) -> Bitmap {
    if orientation == .upright { return self }
    let shapes = planes.map { plane in
      let size = orientation.applied(to: plane.size)
      return PlaneShape(size: size, area: PixelBox(size: size))
    }
    let target = try Bitmap(layout: layout, planes: shapes)
    for (source, target) in zip(planes, target.planes) {
      cimage_orient(source.view, Int32(orientation.rawValue), target.view)
    }
    return target
  }
}

// MARK: Painting

// Operations on interleaved pixels.
extension Bitmap {
  /// Divides color by alpha in place, which undoes the multiplication before averages are taken.
  func unpremultiply() { cimage_unpremultiply(planes[0].view) }

  /// Fills every pixel with the same samples, one per channel.
  func fill(_ sample: [UInt8]) { cimage_fill(planes[0].view, sample) }

  /// The kind of the image, by which an encoder is chosen.
  var content: CImageContent { cimage_content(planes[0].view) }

  /// Sets all samples to the same value.
  func fill(_ sample: UInt8) {
    for plane in planes { plane.samples.update(repeating: sample, count: plane.size.height * plane.stride) }
  }

  /// Draws `other` with its upper left corner at the given pixel. It must fit inside this bitmap. `light` decides how a
  /// background shows through.
  func draw(_ other: borrowing Bitmap, left: Int, top: Int, light: ThumbnailSpec.Light) {
    let mixing: CImageLight = light == .linear ? .linear : .perceptual
    cimage_draw(other.planes[0].view, planes[0].view, Int32(left), Int32(top), mixing)
  }
}

// MARK: Samples

extension Bitmap {
  /// Returns red, green, blue and alpha of every pixel, row after row.
  borrowing func fourSamples() throws(ImageError) -> [UInt8] {
    // Array allocation traps when memory runs out, so first check that as much can be allocated.
    CImageCall.free(try CImageCall.allocate(size.area * 4))
    return layout == .planes ? samplesOfPlanes() : samplesOfPixels()
  }

  private borrowing func samplesOfPixels() -> [UInt8] {
    let (samples, layout, count) = (planes[0].samples, layout, size.area)
    let (green, blue) = layout.isGray ? (0, 0) : (1, 2)
    return [UInt8](unsafeUninitializedCapacity: count * 4) { bytes, length in
      for pixel in 0..<count {
        let (from, to) = (pixel * layout.channels, pixel * 4)
        bytes[to] = samples[from]
        bytes[to + 1] = samples[from + green]
        bytes[to + 2] = samples[from + blue]
        bytes[to + 3] = layout.hasAlpha ? samples[from + layout.channels - 1] : 255
      }
      length = count * 4
    }
  }

  /// Converts luma and chroma, which may be sparser, to RGB (JFIF 1.02).
  private borrowing func samplesOfPlanes() -> [UInt8] {
    let (luma, chroma, size) = (planes[0], planes[1], size)
    let (blues, reds) = (planes[1].samples, planes[2].samples)
    let step = size.divided(by: 2, .up) == chroma.size ? 2 : 1
    return [UInt8](unsafeUninitializedCapacity: size.area * 4) { bytes, length in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let place = y / step * chroma.stride + x / step
          let light = Float(luma.samples[y * luma.stride + x])
          let (blue, red) = (Float(blues[place]) - 128, Float(reds[place]) - 128)
          let color = SIMD3(light + 1.402 * red, light - 0.344136 * blue - 0.714136 * red, light + 1.772 * blue)
          let limited = (color + 0.5).clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
          for channel in 0..<3 { bytes[length + channel] = UInt8(limited[channel]) }
          bytes[length + 3] = 255
          length += 4
        }
      }
    }
  }
}

// MARK: Writing

// Access for decoders written in Swift, with bounds checks.
extension Bitmap {
  /// Calls `body` with the samples of the only plane, row after row without gaps.
  func write<Failure: Error>(_ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void) throws(Failure) {
    let count = size.area * layout.channels
    var samples = unsafe MutableSpan(_unsafeStart: planes[0].samples, count: count)
    try body(&samples)
  }
}

/// A color of a palette, or a pixel.
struct PixelColor: Hashable, Sendable {
  var red, green, blue: UInt8
  var alpha: UInt8 = 255

  static let black = PixelColor(red: 0, green: 0, blue: 0)
  static let transparent = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
}

extension MutableSpan where Element == UInt8 {
  /// Sets the pixel whose samples begin at `offset`: red, green, blue and, with four channels, alpha.
  @inline(__always)
  mutating func set(_ color: PixelColor, at offset: Int, channels: Int) {
    self[offset] = color.red
    self[offset + 1] = color.green
    self[offset + 2] = color.blue
    if channels == 4 { self[offset + 3] = color.alpha }
  }
}
