extension ThumbHash {
  /// Returns the image at `size`, whose sides are clamped to 1...1024: red, green, blue and straight alpha of each
  /// pixel, row after row. The aspect ratio should be that of the encoded image.
  public func pixels(in size: PixelSize) -> [UInt8] {
    let (size, channels) = (Self.drawable(size), channels)
    let (across, down) = (CosineSums.waves(size.width), CosineSums.waves(size.height))
    var pixels: [UInt8] = []
    pixels.reserveCapacity(size.area * 4)
    for y in 0..<size.height {
      let rows = channels.map { $0.row(down[y]) }
      for x in 0..<size.width {
        let values = rows.map { ($0 * across[x]).sum() }
        let blue = values[0] - 2 / 3 * values[1]
        let red = (3 * values[0] - blue + values[2]) / 2
        let alpha = values.count == 4 ? values[3] : 1
        pixels += [red, red - values[2], blue, alpha].map { UInt8(255 * min(max($0, 0), 1)) }
      }
    }
    return pixels
  }

  private static func drawable(_ size: PixelSize) -> PixelSize {
    PixelSize(width: min(max(size.width, 1), 1024), height: min(max(size.height, 1), 1024))
  }

  /// Returns the image at `size`, which is clamped like that of ``pixels(in:)``, as a PNG file. Throws `outOfMemory` if
  /// an allocation fails.
  ///
  /// ```swift
  /// func dataURL(_ hash: ThumbHash) throws -> String {
  ///   let file = try hash.png(in: PixelSize(width: 16, height: 12))
  ///   return "data:image/png;base64,\(Data(file).base64EncodedString())"
  /// }
  /// ```
  public func png(in size: PixelSize) throws(ImageError) -> [UInt8] {
    let pixels = pixels(in: size)
    let bitmap = try Bitmap(size: Self.drawable(size), layout: .rgba)
    bitmap.write { samples in
      for index in pixels.indices { samples[index] = pixels[index] }
    }
    return try PNGEncoder(.placeholder).encode(bitmap)
  }

  /// The waves of one channel: the height of each by its half periods down, and then across.
  private struct Channel {
    var heights = [CosineSums.Waves](repeating: .zero, count: CosineSums.Waves.scalarCount)

    /// Returns the heights of the waves across at the row where the waves down are these.
    func row(_ down: CosineSums.Waves) -> CosineSums.Waves {
      heights.indices.reduce(.zero) { $0 + heights[$1] * down[$1] }
    }
  }

  private var channels: [Channel] {
    let shape = Shape(header: bytes)
    let (colors, scales) = (bits(0, 24), bits(24, 16))
    let level = { (value: Int, place: Int) in Double(value >> place & 63) }
    // The colors are made stronger by a quarter, because coarse steps weaken them.
    var channels = [
      (level(colors, 0) / 63, Double(colors >> 18 & 31) / 31),
      (level(colors, 6) / 31.5 - 1, level(scales, 3) / 63 * 1.25),
      (level(colors, 12) / 31.5 - 1, level(scales, 9) / 63 * 1.25),
    ]
    if shape.hasAlpha { channels.append((Double(bits(40, 4)) / 15, Double(bits(44, 4)) / 15)) }
    var place = shape.hasAlpha ? 48 : 40
    return zip(channels, shape.channels).map { level, waves in
      var channel = Channel()
      Self.forEachWave(across: waves.across, down: waves.down) { across, down in
        guard across + down > 0 else { return channel.heights[0][0] = level.0 }
        channel.heights[down][across] = (Double(bits(place, 4)) / 7.5 - 1) * level.1 * 2
        place += 4
      }
      return channel
    }
  }

  /// Returns `count` bits from number `place` on, the lowest first.
  private func bits(_ place: Int, _ count: Int) -> Int {
    let start = place / 8
    let value = bytes[start..<min(start + 4, bytes.count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    return value >> (place % 8) & ((1 << count) - 1)
  }
}
