import Foundation
import Synchronization

/// A scripted HTTP/1.1 server on a free loopback port. It answers every request with the steps a test gives, byte by
/// byte, and keeps a log of what it received.
public final class LoopbackServer: Sendable {
  public typealias Handler = @Sendable (ServerRequest) -> ServerReply

  private struct State {
    var requests: [ServerRequest] = []
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var connections: [UInt64: Int32] = [:]
    var closed = 0
    var closeWaiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var lastConnection: UInt64 = 0
    var isStopped = false
  }

  public let port: UInt16
  private let listener: Int32
  private let handler: Handler
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
  public var requests: [ServerRequest] { state.withLock { $0.requests } }

  /// Returns when `count` requests have arrived.
  public func waitForRequests(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.requests.count >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Returns when the clients have closed `count` connections.
  public func waitForClosedConnections(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.closed >= count { return true }
        state.closeWaiters.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

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
    let ready = state.withLock { state in
      state.requests.append(request)
      let ready = state.waiters.filter { $0.count <= state.requests.count }
      state.waiters.removeAll { $0.count <= state.requests.count }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
    return handler(request)
  }

  private func didClose(_ id: UInt64) {
    let ready = state.withLock { state in
      state.connections[id] = nil
      state.closed += 1
      let ready = state.closeWaiters.filter { $0.count <= state.closed }
      state.closeWaiters.removeAll { $0.count <= state.closed }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }
}
