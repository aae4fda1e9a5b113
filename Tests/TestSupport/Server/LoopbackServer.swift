import Foundation
import Synchronization

/// A scripted HTTP/1.1 server on a free loopback port. It answers every request with the steps a test gives, byte by
/// byte, and keeps a log of what it received.
public final class LoopbackServer: Sendable {
  public typealias Handler = @Sendable (ServerRequest) -> ServerReply

  private struct State {
    var connections: [UInt64: Int32] = [:]
    var lastConnection: UInt64 = 0
    var isStopped = false
  }

  public let port: UInt16
  private let listener: Int32
  private let greeting: [ServerReply.Step]
  private let handler: Handler
  private let log = Recorder<ServerRequest>()
  private let arrivals = Recorder<UInt64>()
  private let closings = Recorder<UInt64>()
  private let state = Mutex(State())

  /// Starts to listen at once.
  ///
  /// - Parameters:
  ///   - port: 0 for any free one.
  ///   - greeting: what is done on every new connection before its first request is read.
  public init(port: UInt16 = 0, greeting: [ServerReply.Step] = [], _ handler: @escaping Handler) throws {
    (listener, self.port) = try LoopbackSocket.listen(on: .v4, port: port)
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

  /// The address of a path, such as `/icon.png`.
  public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The number of connections that were made so far.
  public var connectionCount: Int { state.withLock { Int($0.lastConnection) } }

  /// Everything that was asked so far, in order of arrival.
  public var requests: [ServerRequest] { log.values }

  /// Returns when `count` requests have arrived.
  public func waitForRequests(_ count: Int) async { _ = await log.values(count: count) }

  /// Returns when `count` connections were made.
  public func waitForConnections(_ count: Int) async { _ = await arrivals.values(count: count) }

  /// Returns when `count` connections are closed.
  public func waitForClosedConnections(_ count: Int) async { _ = await closings.values(count: count) }

  /// Closes the port and every connection.
  public func stop() {
    state.withLock { state in
      // A socket that was closed may be somebody else's by now: nothing is shut down twice, and no connection after
      // it left the table.
      guard !state.isStopped else { return }
      state.isStopped = true
      LoopbackSocket.shutDown(listener)
      for connection in state.connections.values { LoopbackSocket.shutDown(connection) }
    }
  }

  private func serve(_ connection: Int32) {
    let id = state.withLock { state in
      state.lastConnection += 1
      state.connections[state.lastConnection] = connection
      return state.lastConnection
    }
    arrivals.record(id)
    let thread = Thread { [weak self, greeting] in
      var reader = RequestReader(connection, id: id)
      var isOpen = ServerReply(greeting).play(on: connection)
      while isOpen, let request = reader.next() {
        isOpen = self?.reply(to: request).play(on: connection) ?? false
      }
      self?.didClose(id)
      LoopbackSocket.close(connection)
    }
    thread.start()
  }

  private func reply(to request: ServerRequest) -> ServerReply {
    log.record(request)
    return handler(request)
  }

  private func didClose(_ id: UInt64) {
    state.withLock { $0.connections[id] = nil }
    closings.record(id)
  }
}
