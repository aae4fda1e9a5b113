import CImage

/// The weights of a resize in one direction, made once and then only read.
final class Kernel: Sendable {
  /// Everything that decides the weights.
  struct Key: Hashable, Sendable {
    var filter: ThumbnailSpec.Filter
    /// How many samples there are, and which part of them is shown; that may reach past them by part of a sample.
    var sourceCount: Int
    var start, end: Double
    /// How many samples they become.
    var targetCount: Int

    /// The weights for `part` of `sourceCount` samples, seen as `targetCount`.
    init(_ filter: ThumbnailSpec.Filter, of sourceCount: Int, _ part: ClosedRange<Double>, to targetCount: Int) {
      // What is only copied shall not be softened: no other filter leaves all samples as they are.
      let copies =
        part.upperBound - part.lowerBound == Double(targetCount) && part.lowerBound.rounded() == part.lowerBound
      self.filter = copies ? .box : filter
      self.sourceCount = sourceCount
      (start, end) = (part.lowerBound, part.upperBound)
      self.targetCount = targetCount
    }
  }

  /// Unsafe only to the compiler, which sees a pointer: its memory never changes after `init`, so every thread may read it.
  nonisolated(unsafe) let handle: OpaquePointer

  /// Computes the weights. Throws `outOfMemory` when there is no memory for them.
  init(_ key: Key) throws(ImageError) {
    let handle = cimage_kernel_create(
      key.filter.handle, Int32(key.sourceCount), key.start, key.end, Int32(key.targetCount))
    guard let handle else { throw ImageError(.outOfMemory, "There is no memory left to scale the picture.") }
    self.handle = handle
  }

  deinit { cimage_kernel_destroy(handle) }
}

extension ThumbnailSpec.Filter {
  fileprivate var handle: CImageFilter {
    switch self {
    case .lanczos3: .lanczos3
    case .mitchell: .mitchell
    case .cubic: .cubic
    case .box: .box
    }
  }
}
