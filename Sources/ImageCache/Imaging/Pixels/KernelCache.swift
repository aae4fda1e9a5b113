import Synchronization

/// Kernels for sizes that come again and again: computing one takes longer than a twentieth of a thumbnail.
final class KernelCache: Sendable {
  /// Only kernels of usual sizes are kept: 50 KB each at most, and few enough that they need no order.
  private let (largestSource, largestCount) = (4096, 64)
  private let kernels = Mutex<[Kernel.Key: Kernel]>([:])

  /// The kernel for `key`, known or new. Two threads may compute one at the same time; that does no harm.
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
