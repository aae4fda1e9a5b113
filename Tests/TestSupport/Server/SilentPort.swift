/// A loopback port where connections are never completed: its queue of those to accept is full, so that the system
/// drops whatever knocks. To a client it looks like a host that is switched off.
public final class SilentPort: Sendable {
  public enum Family: Sendable {
    case v4, v6
  }

  public let port: UInt16
  private let sockets: [Int32]

  /// - Throws: where the family is not there.
  public init(_ family: Family = .v4) throws {
    let family: LoopbackSocket.Family = family == .v4 ? .v4 : .v6
    let (listener, port) = try LoopbackSocket.listen(on: family, backlog: 0)
    self.port = port
    // The queue has one place more than asked for.
    sockets = [listener] + (try (0..<2).map { _ in try LoopbackSocket.connect(to: port, on: family) })
  }

  deinit { for socket in sockets { LoopbackSocket.close(socket) } }
}
