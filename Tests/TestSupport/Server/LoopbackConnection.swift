import Glibc

/// Both ends of a TCP connection over loopback. Neither waits for data or for room.
public final class LoopbackConnection: Sendable {
  /// The end that the test hands to the code under test, which may close it.
  public let client: Int32
  private let server: Int32

  public init() throws {
    let (listener, port) = try LoopbackSocket.listen(on: .v4)
    client = try LoopbackSocket.connect(to: port, on: .v4)
    // After a failure, `accept` has closed the listener.
    guard let server = LoopbackSocket.accept(listener) else { throw LoopbackSocket.Failure(errno: errno) }
    LoopbackSocket.close(listener)
    _ = fcntl(server, F_SETFL, O_NONBLOCK)
    self.server = server
  }

  deinit { LoopbackSocket.close(server) }

  /// Sends `count` bytes from the server, and reads them all at the client.
  public func pass(_ count: Int) {
    var buffer = [UInt8](repeating: 1, count: 1 << 16)
    var (sent, received) = (0, 0)
    while received < count {
      sent += max(0, send(server, buffer, min(buffer.count, count - sent), Int32(MSG_NOSIGNAL)))
      received += max(0, read(client, &buffer, buffer.count))
    }
  }

  /// True if the client's end was shut down.
  public var isShutDown: Bool {
    var byte: UInt8 = 0
    return read(client, &byte, 1) == 0
  }
}
