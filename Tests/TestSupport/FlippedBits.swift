/// Returns the numbers of the bits that a test flips in a small file: one of each byte, chosen at random but always the
/// same. If `THUMBS_FLIP_ROUNDS` is set, they are all bits.
public func flippedBits(of bytes: [UInt8]) -> [Int] {
  guard environmentNumber("THUMBS_FLIP_ROUNDS") == nil else { return Array(0..<bytes.count * 8) }
  var random = SeededGenerator(seed: UInt64(bytes.count))
  return bytes.indices.map { $0 * 8 + Int.random(in: 0..<8, using: &random) }
}
