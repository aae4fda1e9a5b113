import Foundation
import Testing

@testable import TestSupport

@Suite(.timeLimit(.minutes(20))) struct LoopbackServerTests {
  /// Thread A runs the `deinit` of a server while threads B end its connections. Threads C open sockets, which reuse
  /// the descriptors that B closes, and check that A does not shut down any of them.
  @Test func `A deallocated server shuts down only its own descriptors`() async throws {
    let (isOver, broken) = (Gate(), Counter())
    let others = DispatchGroup()
    for _ in 0..<2 {
      others.enter()
      Thread {
        while !isOver.isOpen { if !Self.isPairWhole() { broken.next() } }
        others.leave()
      }.start()
    }

    // Without the protection, the first descriptor is shut down after 60 rounds on average. More rounds would only take
    // processors away from other tests.
    for _ in 0..<300 {
      var server: LoopbackServer? = try LoopbackServer { _ in .http() }
      let port = try #require(server?.port)
      let clients = try (0..<6).map { _ in try LoopbackSocket.connect(to: port, on: .v4) }
      await server?.waitForConnections(6)
      Thread { for client in clients { LoopbackSocket.close(client) } }.start()
      server = nil
    }
    isOver.open()
    await withCheckedContinuation { done in others.notify(queue: .global()) { done.resume() } }

    #expect(broken.value == 0)
  }

  /// Opens two connected sockets and returns false if another thread shuts one down before a byte arrives.
  private static func isPairWhole() -> Bool {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return true }
    defer { for end in ends { LoopbackSocket.close(end) } }
    sched_yield()
    var byte: UInt8 = 1
    return send(ends[0], &byte, 1, Int32(MSG_NOSIGNAL)) == 1 && recv(ends[1], &byte, 1, 0) == 1
  }
}
