import Synchronization

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
