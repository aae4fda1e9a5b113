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
