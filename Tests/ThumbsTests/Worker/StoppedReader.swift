import Foundation

/// A named pipe whose reader waits until the test lets it read.
final class StoppedReader: Sendable {
  let path: String
  private let descriptor: Int32

  /// Makes the pipe, and opens it for reading.
  init?() {
    path = NSTemporaryDirectory() + "thumbs-pipe-" + UUID().uuidString
    guard mkfifo(path, 0o600) == 0 else { return nil }
    descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    unlink(path)
  }

  /// True if a writer of more than a page has to wait.
  var isFull: Bool {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 60_000
  }

  /// Reads everything that the command writes from now on, to the end. Closes the pipe.
  func readAll() async -> [UInt8] {
    _ = fcntl(descriptor, F_SETFL, 0)
    let stream = CommandStream(descriptor)
    await stream.waitForEnd()
    return stream.bytes
  }
}
