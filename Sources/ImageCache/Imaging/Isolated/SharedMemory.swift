import CDecodeChannel
import Glibc

/// A memory file that is shared with a process of `thumbs-decode`. Its size never changes.
final class SharedMemory: Sendable {
  let descriptor: Int32
  /// The first byte, for writing. `nonisolated(unsafe)` is correct: a process has one image at a time, and only the
  /// thread with that image uses the memory of the process. The other process may change the bytes at any time, also
  /// between two reads of the same byte, so they are only read by ``copy(_:to:)`` and ``copied(_:)``.
  nonisolated(unsafe) let start: UnsafeMutableRawPointer
  let count: Int

  /// Creates `count` bytes, all zero.
  init(count: Int) throws(ImageError) {
    (descriptor, start) = try Self.allocate(count)
    self.count = count
  }

  /// Creates a copy of `bytes`, which the other process cannot change, with room for `capacity` bytes.
  init(holding bytes: Span<UInt8>, capacity: Int = 1) throws(ImageError) {
    count = max(capacity, bytes.count)
    (descriptor, start) = try Self.allocate(count)
    replace(with: bytes)
    // This process can still write through its mapping.
    guard decode_freeze(descriptor) == 0 else { throw Self.outOfMemory }
  }

  private static func allocate(_ count: Int) throws(ImageError) -> (Int32, UnsafeMutableRawPointer) {
    let descriptor = decode_memory(count)
    guard descriptor >= 0 else { throw outOfMemory }
    guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
      close(descriptor)
      throw outOfMemory
    }
    return (descriptor, start)
  }

  private static let outOfMemory = ImageError(.outOfMemory, "Out of memory for the image.")

  /// Copies bytes to the start. They must fit.
  func write(_ bytes: [UInt8]) {
    precondition(bytes.count <= count)
    start.copyMemory(from: bytes, byteCount: bytes.count)
  }

  /// Copies bytes, which must fit, to the start. Nothing of an earlier content follows them in their last page.
  func replace(with bytes: Span<UInt8>) {
    let used = Self.pages(of: bytes.count, within: count)
    bytes.withUnsafeBytes { bytes in
      if let first = bytes.baseAddress { start.copyMemory(from: first, byteCount: bytes.count) }
    }
    memset(start + bytes.count, 0, used - bytes.count)
  }

  /// Sets the pages of the first `count` bytes to zero.
  func clear(_ count: Int) { memset(start, 0, Self.pages(of: count, within: self.count)) }

  /// Returns the end of the page in which `count` bytes end: a decoder that maps them can read that far by mistake. One
  /// that was taken over can map the whole file.
  private static func pages(of count: Int, within limit: Int) -> Int {
    let page = sysconf(Int32(_SC_PAGESIZE))
    return min((count + page - 1) / page * page, limit)
  }

  /// Copies bytes, each of which is read once. They must be within the memory.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    target.copyMemory(from: start + range.lowerBound, byteCount: range.count)
  }

  /// Returns a copy of bytes, which must be within the memory.
  func copied(_ range: Range<Int>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: range.count) { bytes, count in
      if let first = bytes.baseAddress { copy(range, to: first) }
      count = range.count
    }
  }

  deinit {
    munmap(start, count)
    close(descriptor)
  }
}
