/// Returns the file of a black image, in the format whose files are the simplest.
func bitmap(width: UInt32, height: UInt32) -> [UInt8] {
  let pixels = [UInt8](repeating: 0, count: Int((width * 3 + 3) / 4 * 4 * height))
  // The sizes of the file and its two headers, the size of the image, one plane, 24 bits per pixel, and the defaults.
  let header: [UInt32] = [54 + UInt32(pixels.count), 0, 54, 40, width, height, 1 | 24 << 16, 0, 0, 0, 0, 0, 0]
  return Array("BM".utf8) + header.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) } + pixels
}
