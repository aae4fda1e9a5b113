import Foundation
import Synchronization

/// A scripted HTTP/1.1 server on a loopback port. It responds to each request with the steps of a test, byte for byte,
/// and logs what it receives.
public final class LoopbackServer: Sendable {
  public typealias Handler = @Sendable (ServerRequest) -> ServerReply

  public let port: UInt16
  /// The IP address.
  public let address: String
  private let listener: Int32
  private let greeting: [ServerReply.Step]
  private let handler: Handler
  private let log = Recorder<ServerRequest>()
  private let arrivals = Recorder<UInt64>()
  private let closings = Recorder<UInt64>()
  private let connections = ConnectionTable()

  /// Creates a server that is already listening.
  ///
  /// - Parameters:
  ///   - address: the IP address in 127.0.0.0/8. Each is a separate host.
  ///   - port: the port; 0 for any free one.
  ///   - greeting: the steps on every new connection before its first request is read.
  ///   - handler: returns the reply to a request, on a thread of the connection.
  public init(
    at address: String = "127.0.0.1", port: UInt16 = 0, greeting: [ServerReply.Step] = [],
    _ handler: @escaping Handler
  ) throws {
    (listener, self.port) = try LoopbackSocket.listen(on: .v4, address: address, port: port)
    self.address = address
    self.greeting = greeting
    self.handler = handler
    let listener = listener
    let thread = Thread { [weak self] in
      while let connection = LoopbackSocket.accept(listener) {
        self?.serve(connection) ?? LoopbackSocket.close(connection)
      }
    }
    thread.start()
  }

  deinit { stop() }

  /// Returns the URL of a path such as `/icon.png`.
  public func url(_ path: String) -> String { "http://\(address):\(port)\(path)" }

  /// The number of connections accepted so far.
  public var connectionCount: Int { connections.count }

  /// The requests so far, in order of arrival.
  public var requests: [ServerRequest] { log.values }

  /// Returns when `count` requests have arrived.
  public func waitForRequests(_ count: Int) async { _ = await log.values(count: count) }

  /// Returns when `count` connections have been accepted.
  public func waitForConnections(_ count: Int) async { _ = await arrivals.values(count: count) }

  /// Returns when `count` connections have been closed.
  public func waitForClosedConnections(_ count: Int) async { _ = await closings.values(count: count) }

  /// Closes the port and every connection.
  public func stop() { connections.shutDown(with: listener) }

  private func serve(_ connection: Int32) {
    let id = connections.add(connection)
    arrivals.record(id)
    let thread = Thread { [weak self, connections, closings, greeting] in
      var reader = RequestReader(connection, id: id)
      var isOpen = ServerReply(greeting).play(on: connection)
      while isOpen, let request = reader.next() {
        isOpen = self?.reply(to: request).play(on: connection) ?? false
      }
      connections.remove(id)
      closings.record(id)
      LoopbackSocket.close(connection)
    }
    thread.start()
  }

  private func reply(to request: ServerRequest) -> ServerReply {
    log.record(request)
    return handler(request)
  }
}

/// The open connections of a server.
///
/// This is a separate object because of a race: while thread A runs the server's `deinit`, thread B, whose weak
/// reference to the server is nil by then, ends a connection. B must still remove the connection before closing it.
/// Otherwise another thread could open a file that reuses the descriptor, and A would shut that one down.
private final class ConnectionTable: Sendable {
  private struct State {
    var connections: [UInt64: Int32] = [:]
    var lastID: UInt64 = 0
    var isShutDown = false
  }

  private let state = Mutex(State())

  /// The number of connections accepted so far.
  var count: Int { state.withLock { Int($0.lastID) } }

  /// Adds a connection and returns its number, starting with 1.
  func add(_ connection: Int32) -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      state.connections[state.lastID] = connection
      if state.isShutDown { LoopbackSocket.shutDown(connection) }
      return state.lastID
    }
  }

  /// Removes a connection, which must not be closed before.
  func remove(_ id: UInt64) { state.withLock { $0.connections[id] = nil } }

  /// Shuts down the listener and every present and future connection. Further calls have no effect.
  func shutDown(with listener: Int32) {
    state.withLock { state in
      guard !state.isShutDown else { return }
      state.isShutDown = true
      LoopbackSocket.shutDown(listener)
      for connection in state.connections.values { LoopbackSocket.shutDown(connection) }
    }
  }
}
