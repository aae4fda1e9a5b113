import CImage
import Synchronization

/// The weights of a resize in one direction. Immutable.
final class Kernel: Sendable {
  /// Everything that determines the weights.
  struct Key: Hashable, Sendable {
    var filter: ThumbnailSpec.Filter
    /// The number of source samples.
    var sourceCount: Int
    /// The visible part of the source samples. May extend past them by part of a sample.
    var start, end: Double
    /// The number of target samples.
    var targetCount: Int

    /// Creates the key for scaling `part` of `sourceCount` samples to `targetCount`.
    init(_ filter: ThumbnailSpec.Filter, of sourceCount: Int, _ part: ClosedRange<Double>, to targetCount: Int) {
      // A copy must not be softened, and only the box filter leaves every sample unchanged.
      let copies =
        part.upperBound - part.lowerBound == Double(targetCount) && part.lowerBound.rounded() == part.lowerBound
      self.filter = copies ? .box : filter
      self.sourceCount = sourceCount
      (start, end) = (part.lowerBound, part.upperBound)
      self.targetCount = targetCount
    }
  }

  /// The C kernel. `nonisolated(unsafe)` only because it is a pointer: its memory never changes after `init`, so any
  /// thread may read it.
  nonisolated(unsafe) let handle: OpaquePointer

  /// Computes the weights. Throws `outOfMemory` if memory runs out.
  init(_ key: Key) throws(ImageError) {
    let handle = cimage_kernel_create(
      key.filter.handle, Int32(key.sourceCount), key.start, key.end, Int32(key.targetCount))
    guard let handle else { throw ImageError(.outOfMemory, "Out of memory while scaling the image.") }
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

/// A cache of kernels for recurring sizes: computing one takes more than a twentieth of the time of a thumbnail.
final class KernelCache: Sendable {
  /// The limits of the cache. Only kernels of common sizes are kept, at most 150 KB each, and few enough that a full
  /// cache is simply emptied.
  private let (largestSource, largestCount) = (4096, 64)
  private let kernels = Mutex<[Kernel.Key: Kernel]>([:])

  /// Returns the kernel for `key`, cached or new.
  ///
  /// If thread A and thread B need the same new kernel at once, both compute it; the second replaces the first.
  func kernel(for key: Kernel.Key) throws(ImageError) -> Kernel {
    if let known = kernels.withLock({ $0[key] }) { return known }
    let kernel = try Kernel(key)
    guard key.sourceCount <= largestSource, key.targetCount <= largestSource else { return kernel }
    kernels.withLock { kernels in
      if kernels.count >= largestCount { kernels.removeAll(keepingCapacity: true) }
      kernels[key] = kernel
    }
    return kernel
  }
}
