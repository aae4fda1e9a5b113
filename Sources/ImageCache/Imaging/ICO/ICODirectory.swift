/// The images in an icon or a cursor.
struct ICODirectory: Sendable {
  /// The images with a readable header, in the order of the file.
  private(set) var entries: [ICOEntry] = []
  /// The end of the last one of these images.
  private(set) var end = 0
  /// Harmless oddities.
  private(set) var warnings: [String] = []
  /// The largest image, of those the one with the most bits.
  let largest: ICOEntry

  /// Reads the directory and the header of each image. Returns nil if more bytes are needed. Throws `decodeError` if no
  /// image has a readable header.
  init?(_ file: Span<UInt8>) throws(ImageError) {
    guard let count = file.uint16(at: 4, .little), 6 + 16 * count <= file.count else { return nil }
    for index in 0..<count {
      guard let range = Self.range(file, at: 6 + 16 * index) else { return nil }
      guard range.lowerBound >= 6 + 16 * count else {
        warnings.append("ignored image \(index + 1) of the icon, which overlaps the directory")
        continue
      }
      do throws(ImageError) {
        guard let entry = try ICOEntry(file, at: range) else { return nil }
        entries.append(entry)
        end = max(end, range.upperBound)
      } catch {
        warnings.append("ignored image \(index + 1) of the icon, whose header is invalid")
      }
    }
    guard let largest = entries.max(by: { $0.isLess(than: $1) }) else {
      throw ImageError(.decodeError, "No image of the icon has a valid header.")
    }
    self.largest = largest
  }

  /// Returns the location of the image that the entry at `offset` describes.
  private static func range(_ file: Span<UInt8>, at offset: Int) -> Range<Int>? {
    guard let length = file.uint32(at: offset + 8, .little), let start = file.uint32(at: offset + 12, .little) else {
      return nil
    }
    return start..<start + length
  }

  /// Returns the image to make thumbnails from: the smallest that has all pixels they need, of those the one with the
  /// most bits. Images of another shape than the largest do not count.
  func entry(for demand: DecodingDemand) -> ICOEntry {
    let reduction = demand.targets.map(\.reduction).min() ?? 1
    let fitting = entries.filter { entry in
      // Reductions are quotients, so that half a pixel may be lost to rounding.
      entry.hasShape(of: largest) && Double(entry.size.width) * reduction > Double(largest.size.width) - 0.5
    }
    guard let area = fitting.map(\.size.area).min() else { return largest }
    return fitting.filter { $0.size.area == area }.max { $0.isLess(than: $1) } ?? largest
  }
}
