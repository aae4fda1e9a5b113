import CDecodeChannel
import Glibc

/// A memory file that is shared with a process of `thumbs-decode`. Its size never changes.
struct SharedMemory: ~Copyable {
  let descriptor: Int32
  let start: UnsafeMutableRawPointer
  let count: Int

  /// Creates `count` bytes, all zero.
  init(count: Int) throws(ImageError) {
    (descriptor, start) = try Self.allocate(count)
    self.count = count
  }

  /// Creates a copy of `bytes`, which the other process cannot change.
  init(holding bytes: Span<UInt8>) throws(ImageError) {
    let count = max(1, bytes.count)
    let (descriptor, start) = try Self.allocate(count)
    bytes.withUnsafeBytes { bytes in
      if let first = bytes.baseAddress { start.copyMemory(from: first, byteCount: bytes.count) }
    }
    guard decode_freeze(descriptor) == 0 else {
      Self.free(descriptor, start, count)
      throw Self.outOfMemory
    }
    (self.descriptor, self.start, self.count) = (descriptor, start, count)
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

  private static func free(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) {
    munmap(start, count)
    close(descriptor)
  }

  private static let outOfMemory = ImageError(.outOfMemory, "Out of memory for the image.")

  /// Copies bytes to the start. They must fit.
  func write(_ bytes: [UInt8]) {
    precondition(bytes.count <= count)
    start.copyMemory(from: bytes, byteCount: bytes.count)
  }

  /// The bytes.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  deinit { Self.free(descriptor, start, count) }
}
