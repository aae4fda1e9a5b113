/// A loopback port on which no connection completes. Its accept queue is full, so the system drops further attempts,
/// and to a client the port looks like a host that is switched off.
public final class SilentPort: Sendable {
  public enum Family: Sendable {
    case v4, v6
  }

  public let port: UInt16
  private let sockets: [Int32]

  /// Creates a silent port.
  ///
  /// - Throws: an error if the system does not support the address family.
  public init(_ family: Family = .v4) throws {
    let family: LoopbackSocket.Family = family == .v4 ? .v4 : .v6
    let (listener, port) = try LoopbackSocket.listen(on: family, backlog: 0)
    self.port = port
    // Linux queues one connection more than the backlog.
    sockets = [listener] + (try (0..<2).map { _ in try LoopbackSocket.connect(to: port, on: family) })
  }

  deinit { for socket in sockets { LoopbackSocket.close(socket) } }
}
