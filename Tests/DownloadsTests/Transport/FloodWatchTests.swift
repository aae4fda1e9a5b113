import DownloadSupport
import HTTPTypes
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
