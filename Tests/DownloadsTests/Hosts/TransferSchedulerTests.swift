import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

@Suite struct TransferSchedulerTests {
  @Test func `A ticket is prepared, and then starts`() {
    var driver = ScheduleDriver()
    #expect(driver.add("a1") == ["prepare a1"])
    #expect(driver.prepared("a1") == ["start a1"])
    #expect(driver.end("a1") == [])
    #expect(driver.schedule.hostCount == 0)
  }

  @Test func `A ticket that needs no preparation starts at once, in its order`() {
    var driver = ScheduleDriver(width: 1, places: 1)
    #expect(driver.add("a1", isPrepared: true) == ["start a1"])
    #expect(driver.add("a2") == ["prepare a2"])
    #expect(driver.add("a3", isPrepared: true) == [])
    #expect(driver.add("a4+", isPrepared: true) == [])
    #expect(driver.end("a1") == ["start a4+"])
    #expect(driver.end("a4+") == ["start a3"])
  }

  @Test func `A host never holds more places than its limit, and all hosts together never more transfers`() {
    var driver = ScheduleDriver(width: 3, places: 2)
    #expect(driver.addPrepared(["a1", "a2", "a3", "b1", "b2"]) == ["a1", "a2", "b1"])
    #expect(driver.end("b1") == ["start b2"])
    #expect(driver.end("b2") == [])
    #expect(driver.end("a1") == ["start a3"])
  }

  @Test func `A preparation holds no transfer, and a host prepares no more than it may start`() {
    var driver = ScheduleDriver(width: 1, places: 1)
    #expect(driver.add("a1") == ["prepare a1"])
    #expect(driver.add("a2") == [])
    #expect(driver.addPrepared(["b1"]) == ["b1"])
  }

  @Test func `The order is that of the priorities, then that of arrival`() {
    var driver = ScheduleDriver(width: 1, places: 1)
    _ = driver.addPrepared(["a1"])
    for name in ["a2-", "a3", "a4+", "a5", "a6+"] { _ = driver.addPrepared([name]) }

    #expect(driver.order(endingWith: "a1") == ["a4+", "a6+", "a3", "a5", "a2-"])
  }

  @Test func `A changed priority moves a ticket at every stage before its transfer`() {
    var driver = ScheduleDriver(width: 1, places: 2)
    _ = driver.addPrepared(["x1", "a1", "a2", "b1"])
    for name in ["a3", "a4"] { _ = driver.add(name) }
    driver.change("a4", to: .high)
    driver.change("a2", to: .high)

    #expect(driver.order(endingWith: "x1") == ["a4", "a2", "b1", "a1", "a3"])
  }

  @Test func `Hosts with tickets of the same priority take turns`() {
    var driver = ScheduleDriver(width: 1, places: 9)
    _ = driver.addPrepared(["x1", "a1", "a2", "a3", "b1", "b2", "c1"])

    #expect(driver.order(endingWith: "x1") == ["a1", "b1", "c1", "a2", "b2", "a3"])
  }

  @Test func `An urgent ticket overtakes ten thousand others`() {
    var driver = ScheduleDriver(width: 2, places: 1)
    _ = driver.addPrepared(["x1", "y1"])
    for index in 0..<10_000 { _ = driver.addPrepared(["\(["a", "b", "c"][index % 3])\(index)-"]) }
    _ = driver.addPrepared(["b+"])

    let actions = driver.end("x1")
    #expect(actions.contains("start b+"))
  }

  @Test(arguments: [["a1"], ["a1", "a2"], ["a2", "a3", "a4"]])
  func `A ticket that is removed leaves its place to others`(removed: [String]) {
    var driver = ScheduleDriver(width: 1, places: 2)
    _ = driver.addPrepared(["x1"])
    for name in ["a1", "a2", "a3", "a4"] { _ = driver.add(name) }
    for name in removed { _ = driver.remove(name) }
    for name in ["a1", "a2", "a3", "a4"] where !removed.contains(name) { _ = driver.prepared(name) }

    #expect(driver.order(endingWith: "x1") == ["a1", "a2", "a3", "a4"].filter { !removed.contains($0) })
    #expect(driver.schedule.hostCount == 0)
  }

  @Test func `Nothing starts while the schedule is suspended`() {
    var driver = ScheduleDriver()
    #expect(driver.suspend(true) == [])
    #expect(driver.addPrepared(["a1"]) == [])
    #expect(driver.suspend(false) == ["start a1"])
  }

  // MARK: Pauses and rates

  @Test func `A pause holds back one host, and it continues when the pause is over`() {
    var driver = ScheduleDriver(places: 1)
    _ = driver.addPrepared(["a1"])
    _ = driver.add("a2")
    #expect(driver.prepared("a2") == [])
    #expect(driver.end("a1", .response(.init(isLimit: true, retryAfter: .seconds(7)))) == ["wake a at 7"])
    #expect(driver.addPrepared(["b1"]) == ["b1"])
    #expect(driver.wake("a") == ["start a2"])
  }

  @Test func `A pause that is too long refuses the downloads of the host until it is over`() {
    var driver = ScheduleDriver(places: 1)
    _ = driver.addPrepared(["a1"])
    _ = driver.add("a2")
    _ = driver.end("a1", .response(.init(isLimit: true, retryAfter: .seconds(500))))
    #expect(driver.prepared("a2") == ["refuse a2 until 500"])
    #expect(driver.add("a3") == ["refuse a3 until 500"])
    driver.now = 500
    #expect(driver.addPrepared(["a4"]) == ["a4"])
  }

  @Test func `A rate spaces the requests to each host, and does not hold back another`() {
    var driver = ScheduleDriver(rate: RequestRate(count: 1, per: .seconds(10)))
    #expect(driver.addPrepared(["a1", "a2", "b1"]) == ["a1", "b1"])
    #expect(driver.sent("a1") == ["wake a at 10.05"])
    #expect(driver.end("a1") == [])
    #expect(driver.addPrepared(["a3"]) == [])
    #expect(driver.wake("a") == ["start a2"])
    #expect(driver.sent("a2") == ["wake a at 20.1"])
  }

  @Test func `A request counts from when it is sent, and no other transfer of its host starts before`() {
    var driver = ScheduleDriver(rate: RequestRate(count: 1, per: .seconds(10)))
    #expect(driver.addPrepared(["a1", "a2", "b1"]) == ["a1", "b1"])
    driver.now = 30
    #expect(driver.addPrepared(["a3"]) == [])
    #expect(driver.sent("a1") == ["wake a at 40.05"])
    driver.now = 35
    #expect(driver.sent("a1") == [])
    #expect(driver.end("a1") == [])
    #expect(driver.wake("a") == ["start a2"])
  }

  @Test(arguments: [TransferScheduler.Contact.response(nil), .unreachable, .abandoned])
  func `A transfer that does not report when it is sent counts from its end`(contact: TransferScheduler.Contact) {
    var driver = ScheduleDriver(rate: RequestRate(count: 1, per: .seconds(10)))
    #expect(driver.addPrepared(["a1", "a2"]) == ["a1"])
    driver.now = 30
    #expect(driver.end("a1", contact) == ["wake a at 40.05"])
    #expect(driver.wake("a") == ["start a2"])
  }

  @Test(arguments: [("5/s", 1.0), ("45/m", 60), ("0.5/s", 2), ("1000/h", 3600)])
  func `No period has more requests than the rate allows`(text: String, period: Double) throws {
    let rate = try #require(RequestRate(text))
    var pace = RateLimiter(rate)
    var (now, times) = (Duration.zero, [Double]())
    for _ in 0..<3000 {
      now = max(now, pace.next)
      pace.record(at: now)
      times.append(now / .seconds(1))
    }
    for (first, next) in zip(times, times.dropFirst(rate.count)) { #expect(next - first > period + 0.04) }
    // The margin costs little.
    #expect(times[rate.count] < period + 0.06)
  }

  @Test(arguments: [1, 4, 20])
  func `No period has more starts than the rate allows, however late wake-ups are and however long transfers take`(
    places: Int
  ) {
    let rate = RequestRate(count: 5, per: .seconds(1))
    var (driver, random) = (ScheduleDriver(width: 100, places: places, rate: rate), SeededGenerator(seed: 1))
    var times: [Double] = []
    for index in 0..<300 { times += driver.add("a\(index)", isPrepared: true).starts.map { _ in driver.now } }
    for _ in 0..<10_000 where times.count < 300 {
      driver.now += .random(in: 0..<0.4, using: &random)
      let ended = Bool.random(using: &random) ? driver.running.randomElement(using: &random) : nil
      times += (ended.map { driver.end($0) } ?? driver.wake("a")).starts.map { _ in driver.now }
    }

    #expect(times.count == 300)
    for (first, next) in zip(times, times.dropFirst(rate.count)) { #expect(next - first > 1) }
  }

  // MARK: Dead hosts

  @Test func `A host that cannot be reached is probed once, and then all its downloads are refused`() {
    var driver = ScheduleDriver(places: 3)
    for index in 1...9 { _ = driver.add("a\(index)") }
    for name in ["a1", "a2"] { _ = driver.end(name, .unreachable) }
    #expect(driver.end("a3", .unreachable) == ["wake a at 1"])
    _ = driver.end("a4", .unreachable)
    _ = driver.end("a5", .unreachable)
    #expect(driver.addPrepared(["b1"]) == ["b1"])
    #expect(driver.wake("a") == ["prepare a6"])
    #expect(driver.end("a6", .unreachable) == ["refuse a7", "refuse a8", "refuse a9"])
    #expect(driver.add("a10") == ["refuse a10"])

    driver.now = 16
    #expect(driver.add("a11") == ["prepare a11"])
    #expect(driver.add("a12") == [])
    #expect(driver.prepared("a11") == ["start a11"])
    #expect(driver.end("a11") == ["prepare a12"])
  }

  @Test func `A probe takes a download that is prepared already`() {
    var driver = ScheduleDriver(width: 2, places: 4)
    _ = driver.addPrepared(["x1"])
    _ = driver.addPrepared(["a1", "a2", "a3", "a4"])
    for name in ["a1", "a2", "a3"] { _ = driver.end(name, .unreachable) }
    #expect(driver.running == ["x1"])
    #expect(driver.wake("a") == ["start a4"])
    #expect(driver.add("a5") == [])
    #expect(driver.end("a4", .reached) == ["prepare a5"])
  }

  @Test(arguments: [true, false])
  func `Another download becomes the probe if that one is canceled`(isPrepared: Bool) {
    var driver = ScheduleDriver(places: 3)
    for index in 1...7 { _ = driver.add("a\(index)") }
    for index in 1...5 { _ = driver.end("a\(index)", .unreachable) }
    #expect(driver.wake("a") == ["prepare a6"])

    let actions = isPrepared ? driver.end("a6", .abandoned) : driver.remove("a6")
    #expect(actions == ["prepare a7"])
  }

  @Test func `Memory of hosts without downloads is bounded`() {
    var driver = ScheduleDriver()
    for index in 0..<20_000 {
      _ = driver.addPrepared(["h\(index).test"])
      _ = driver.end("h\(index).test", .unreachable)
    }
    #expect(driver.schedule.hostCount <= 4096)
  }
}

extension [String] {
  /// The actions that start a transfer.
  fileprivate var starts: [String] { filter { $0.hasPrefix("start ") } }
}
