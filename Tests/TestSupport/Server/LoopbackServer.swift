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
  private let handler: Handler
  private let log = Recorder<ServerRequest>()
  private let closings = Recorder<UInt64>()
  private let state = Mutex(State())

  /// Starts to listen at once.
  public init(_ handler: @escaping Handler) throws {
    let (listener, port) = try LoopbackSocket.listen()
    self.listener = listener
    self.port = port
    self.handler = handler
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

  /// Everything that was asked so far, in order of arrival.
  public var requests: [ServerRequest] { log.values }

  /// Returns when `count` requests have arrived.
  public func waitForRequests(_ count: Int) async { _ = await log.values(count: count) }

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
    let thread = Thread { [weak self] in
      var reader = RequestReader(connection)
      while let request = reader.next() {
        guard let reply = self?.reply(to: request), reply.play(on: connection) else { break }
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
