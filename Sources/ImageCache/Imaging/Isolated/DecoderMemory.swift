/// The memory files that a process gets for one image after another.
///
/// New memory is slow, because the system allocates and clears each page: that takes longer than to copy an image. The
/// process could read the end of an image that it has decoded before, but nothing of another process.
struct DecoderMemory: Sendable {
  /// The size of a file that is kept, in bytes. Larger images have separate files.
  private static let keptBytes = 16 << 20

  private var input: SharedMemory?
  private var output: SharedMemory?

  /// Returns memory that begins with `bytes`, which the process cannot change.
  mutating func holding(_ bytes: Span<UInt8>) throws(ImageError) -> SharedMemory {
    guard bytes.count <= Self.keptBytes else { return try SharedMemory(holding: bytes) }
    if let input {
      input.replace(with: bytes)
      return input
    }
    let input = try SharedMemory(holding: bytes, capacity: Self.keptBytes)
    self.input = input
    return input
  }

  /// Returns memory that begins with `count` zeros.
  mutating func zeros(_ count: Int) throws(ImageError) -> SharedMemory {
    guard count <= Self.keptBytes else { return try SharedMemory(count: count) }
    if let output {
      output.clear(count)
      return output
    }
    let output = try SharedMemory(count: Self.keptBytes)
    self.output = output
    return output
  }
}
