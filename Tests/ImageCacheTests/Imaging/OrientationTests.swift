import Testing

@testable import ImageCache

@Suite struct `Orientations` {
  private static let size = PixelSize(width: 7, height: 5)

  /// Returns the samples of a gray bitmap in a box.
  private func samples(_ bitmap: borrowing Bitmap, _ box: PixelBox) -> Set<UInt8> {
    let plane = bitmap.planes[0]
    var samples: Set<UInt8> = []
    for y in Int(box.top)..<Int(box.bottom) {
      for x in Int(box.left)..<Int(box.right) { samples.insert(plane.samples[y * plane.stride + x]) }
    }
    return samples
  }

  /// Returns a bitmap in which every pixel is different.
  private func numbered() throws -> Bitmap {
    let bitmap = try Bitmap(size: Self.size, layout: .gray)
    for index in 0..<Self.size.area { bitmap.planes[0].samples[index] = UInt8(index) }
    return bitmap
  }

  @Test(arguments: Orientation.allCases)
  func `A part of the displayed image is the same pixels of the stored image, even off center`(
    orientation: Orientation
  ) throws {
    let displayed = try numbered().oriented(orientation)
    let stored = try numbered()
    let size = orientation.applied(to: Self.size)
    for (left, top, right, bottom) in [
      (0, 0, 2, 1), (1, 2, 4, 3), (0, 3, size.width, 5), (size.width - 1, 0, size.width, 5),
    ] {
      let box = PixelBox(left: Double(left), top: Double(top), right: Double(right), bottom: Double(bottom))
      #expect(samples(displayed, box) == samples(stored, orientation.stored(box, in: Self.size)))
    }
  }
}
