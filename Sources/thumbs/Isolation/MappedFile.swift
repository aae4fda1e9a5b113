import Glibc

/// A memory file of another process, mapped into this one.
struct MappedFile: ~Copyable {
  private let bytes: UnsafeMutableRawBufferPointer

  /// The size of the file.
  var count: Int { bytes.count }

  /// Maps a whole file. Returns nil for an empty file, or if there is no memory.
  init?(_ descriptor: Int32, _ protection: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    let count = Int(status.st_size)
    guard let start = mmap(nil, count, protection, MAP_SHARED, descriptor, 0), start != MAP_FAILED else { return nil }
    bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  /// Returns a copy of bytes, which must be within the file: the other process could change them while they are read.
  func copied(_ range: Range<Int>) -> [UInt8] { Array(UnsafeRawBufferPointer(rebasing: bytes[range])) }

  deinit { munmap(bytes.baseAddress, bytes.count) }

  /// Writes parts one after the other, from the start. Returns false if they do not fit.
  func write(_ parts: [[UInt8]]) -> Bool {
    guard parts.reduce(0, { $0 + $1.count }) <= bytes.count else { return false }
    var offset = 0
    for part in parts {
      UnsafeMutableRawBufferPointer(rebasing: bytes.dropFirst(offset)).copyBytes(from: part)
      offset += part.count
    }
    return true
  }
}
