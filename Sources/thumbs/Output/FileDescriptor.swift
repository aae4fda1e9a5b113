import Glibc

/// Reads and writes that continue after interruptions and partial transfers.
enum FileDescriptor {
  /// Writes all of `bytes`. Returns the number of bytes written and an `errno` value, 0 on success.
  static func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> (count: Int, code: Int32) {
    bytes.withUnsafeBytes { buffer in
      var count = 0
      while count < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[count...])
        let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if written >= 0 {
          count += written
        } else if errno == EAGAIN {
          waitUntilWritable(descriptor)
        } else if errno != EINTR {
          return (count, errno)
        }
      }
      return (count, 0)
    }
  }

  /// Writes all of `bytes` to the file at `path`, which `descriptor` has open.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, path: String) throws(OutputError) {
    let code = writeAll(bytes, to: descriptor).code
    if code != 0 { throw OutputError(action: .write, path: path, code: code) }
  }

  /// Returns true if the rest of the regular file `descriptor`, up to its end, is exactly `bytes`.
  static func reads(_ bytes: [UInt8], from descriptor: Int32) -> Bool {
    let length = min(bytes.count + 1, 64 << 10)
    return withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { chunk in
      bytes.withUnsafeBytes { expected in
        var position = 0
        while true {
          let count = read(descriptor, chunk.baseAddress, length)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { return count == 0 && position == expected.count }
          guard count <= expected.count - position else { return false }
          guard isEqual(chunk, expected[position..<(position + count)]) else { return false }
          position += count
          // A read that returns fewer bytes than requested has met the end of the file.
          if position == expected.count, count < length { return true }
        }
      }
    }
  }

  /// Returns the next `count` bytes of `descriptor`; nil if there are fewer, or on a read error.
  static func contents(of descriptor: Int32, count: Int) -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      while done < count {
        let got = read(descriptor, buffer.baseAddress?.advanced(by: done), count - done)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { return }
        done += got
      }
    }
    return bytes.count == count ? bytes : nil
  }

  /// Creates an empty file without a name on the file system of `directory`. Nothing is left behind, however the
  /// process ends.
  static func unnamedFile(in directory: String) throws(OutputError) -> Int32 {
    // `mkstemp` replaces the six X.
    var template = Array("\(directory)/.thumbs-XXXXXX".utf8CString)
    let file = mkstemp(&template)
    guard file >= 0 else { throw OutputError(action: .create, path: directory, code: errno) }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    unlink(template)
    return file
  }

  /// Returns true if `chunk` begins with `bytes`, which must not be longer.
  private static func isEqual(_ chunk: UnsafeMutableRawBufferPointer, _ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let left = chunk.baseAddress, let right = UnsafeRawBufferPointer(rebasing: bytes).baseAddress else {
      return bytes.isEmpty
    }
    return memcmp(left, right, bytes.count) == 0
  }

  /// Waits until `descriptor` accepts data: another program may have made a shared terminal or pipe non-blocking.
  private static func waitUntilWritable(_ descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    poll(&entry, 1, -1)
  }
}

/// The device and inode of a file, the same under all of its names.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// The identity of the file that `status` describes. Nil for anything but a regular file: a pipe, a terminal or
  /// `/dev/null` may serve several purposes at once.
  init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// The identity of the regular file at `path`, following links; nil if there is none.
  init?(path: String) { self.init(path: Array(path.utf8CString)) }

  /// The identity of the regular file at `path`, a C string that need not be UTF-8; nil for anything else.
  init?(path: [CChar]) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The identity of the regular file that `descriptor` has open; nil if it is not one.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}

extension String {
  /// The absolute path without links; nil if there is no such file, or if that path is not UTF-8.
  var resolvingLinks: String? {
    guard let path = realpath(self, nil) else { return nil }
    defer { free(path) }
    return String(validatingCString: path)
  }
}

/// The identity, size and modification time of a file. If two are equal, the file was neither replaced nor changed in
/// between.
struct FileVersion: Hashable, Sendable {
  private let identity: FileIdentity
  private let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  /// The version of the regular file that `descriptor` has open; nil for anything else.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The version of the regular file at `path`; nil if there is none.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard let identity = FileIdentity(status) else { return nil }
    self.identity = identity
    size = Int(status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
