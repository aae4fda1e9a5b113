import CCurl
import DownloadSupport
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(10))) struct FloodWatchTests {
  private typealias Reading = FloodWatch.Reading

  @Test func `A connection is flooded if libcurl reads much more than it delivers`() {
    var watch = FloodWatch()
    #expect(watch.floods(in: [1: Reading(read: 9 << 20, delivered: 0), 2: Reading(read: 0, delivered: 0)]).isEmpty)

    let second = [
      1: Reading(read: 11 << 20, delivered: 0), 2: Reading(read: 11 << 20, delivered: 11 << 20),
    ]
    #expect(watch.floods(in: second) == [1])
    #expect(watch.floods(in: second).isEmpty)
  }

  @Test(arguments: [(1 << 20, 0, false), (1 << 20 + 1, 0, true), (9 << 20, 1 << 20, false), (10 << 20, 1 << 20, true)])
  func `Only what exceeds the allowance and eight times the response counts`(
    read: Int, delivered: Int, isFlood: Bool
  ) {
    var watch = FloodWatch()
    _ = watch.floods(in: [1: Reading(read: 100, delivered: 100)])

    let found = watch.floods(in: [1: Reading(read: 100 + read, delivered: 100 + delivered)])

    #expect(found == (isFlood ? [1] : []))
  }

  @Test func `A new connection with the ports of an old one starts over`() {
    var watch = FloodWatch()
    _ = watch.floods(in: [1: Reading(read: 5 << 20, delivered: 5 << 20)])
    #expect(watch.floods(in: [1: Reading(read: 4 << 20, delivered: 0)]).isEmpty)
    #expect(watch.floods(in: [1: Reading(read: 6 << 20, delivered: 0)]) == [1])
  }

  @Test func `The counters are read once in an interval`() {
    var watch = FloodWatch()
    let start = ContinuousClock.now
    #expect(watch.isDue(at: start) && !watch.isDue(at: start + .milliseconds(99)))
    #expect(watch.isDue(at: start + .milliseconds(100)) && !watch.isDue(at: start + .milliseconds(150)))
  }

  @Test(arguments: [(3 << 20, 0, true), (3 << 20, 1 << 20, false), (1 << 20, 0, false)])
  func `A connection that is flooded while libcurl does not return is ended`(
    read: Int, delivered: Int, isFlooded: Bool
  ) throws {
    let (hostile, quiet, looks) = (try LoopbackConnection(), try LoopbackConnection(), Looks())
    let floods = FloodGuard(later: looks.add)
    let ports = ccurl_ports(hostile.client)
    for connection in [hostile, quiet] { floods.add(connection.client) }

    floods.guarding {
      looks.next()
      hostile.pass(read)
      floods.note(delivered: delivered)
      looks.next()
    }

    #expect(floods.hasEnded(ports) == isFlooded && hostile.isShutDown == isFlooded)
    #expect(!floods.hasEnded(ccurl_ports(quiet.client)) && !quiet.isShutDown)
    floods.noteConnection(ports)
    #expect(!floods.hasEnded(ports))
    for connection in [hostile, quiet] { #expect(floods.closeSocket(connection.client) == 0) }
  }

  @Test func `What libcurl reads in several calls is no flood of one`() throws {
    let (connection, looks) = (try LoopbackConnection(), Looks())
    let floods = FloodGuard(later: looks.add)
    floods.add(connection.client)

    for _ in 0..<4 {
      floods.guarding {
        connection.pass(1 << 20)
        looks.next()
      }
    }

    #expect(!connection.isShutDown)
    #expect(floods.closeSocket(connection.client) == 0)
  }

  @Test func `Nothing looks at the calls while there are none`() {
    let looks = Looks()
    let floods = FloodGuard(later: looks.add)

    for _ in 0..<2 {
      floods.guarding {}
      #expect(looks.isDue)
      looks.next()
      #expect(looks.isDue)
      looks.next()
      #expect(!looks.isDue)
    }
  }

  /// The looks of a guard, each at the moment the test chooses.
  private final class Looks: Sendable {
    private let due = Mutex<(@Sendable () -> Void)?>(nil)

    var isDue: Bool { due.withLock { $0 != nil } }

    @Sendable func add(_ look: @escaping @Sendable () -> Void) { due.withLock { $0 = look } }

    func next() {
      let look = due.withLock { due in
        defer { due = nil }
        return due
      }
      look?()
    }
  }

  @Test(.needs(.dataFlood), arguments: [RealServers.Name.windowFlood, .pingFlood, .dataFlood])
  func `A server that floods its connection loses it`(server: RealServers.Name) async throws {
    let downloader = try RealServers.downloader()

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(RealServers.url(server)) }

    #expect(failure?.code == .connectionLost && failure?.message.contains("floods") == true, "\(failure as Any)")
  }

  @Test(.needs(.http2)) func `Many small responses over one connection are not a flood`() async throws {
    let urls = try (0..<3000).map { try RealServers.url(.http2, "/fjord.jpg?\($0)") }

    let downloads = try await RealServers.downloader(width: 64).downloadAll(urls)

    #expect(downloads.allSatisfy { $0.response.status == .ok })
  }
}
