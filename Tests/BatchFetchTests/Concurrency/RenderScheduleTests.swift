import DownloadSupport
import Foundation
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

@Suite struct RenderScheduleTests {
  private static let patience = Duration.milliseconds(20)

  /// A schedule whose pieces are named.
  private final class Bench {
    private var schedule: RenderSchedule<String>
    private var running: [String: RenderSchedule<String>.Ticket] = [:]

    init(width: Int = 2) { schedule = RenderSchedule(width: width, patience: patience) }

    @discardableResult
    func add(_ name: String, of host: String?, _ priority: Priority = .normal) -> RenderSchedule<String>.Ticket {
      schedule.add(name, of: host, priority)
    }

    func change(_ ticket: RenderSchedule<String>.Ticket, to priority: Priority) {
      schedule.change(ticket, to: priority)
    }
    func remove(_ ticket: RenderSchedule<String>.Ticket) -> String? { schedule.remove(ticket) }
    func nextChange(after now: Duration) -> Duration? { schedule.nextChange(after: now) }

    /// Begins all pieces that may, and returns their names in order.
    func begin(at time: Duration) -> [String] {
      var names: [String] = []
      while let (ticket, name) = schedule.next(now: time) {
        names.append(name)
        running[name] = ticket
      }
      return names
    }

    func end(_ name: String, at time: Duration) {
      if let ticket = running.removeValue(forKey: name) { schedule.end(ticket, now: time) }
    }

    var rememberedCount: Int { schedule.rememberedCount }
  }

  @Test func `Pieces of one host begin by priority, and in order if it is equal`() {
    let bench = Bench(width: 1)
    let pieces = [("a", Priority.low), ("b", .normal), ("c", .high), ("d", .normal), ("e", .low)]
    let tickets = pieces.map { bench.add($0.0, of: "host", $0.1) }
    bench.change(tickets[4], to: .high)
    bench.change(tickets[1], to: .low)
    #expect(bench.remove(tickets[3]) == "d")
    #expect(bench.remove(tickets[3]) == nil)

    for name in ["c", "e", "a", "b"] {
      #expect(bench.begin(at: .zero) == [name])
      bench.end(name, at: .zero)
    }
    #expect(bench.begin(at: .zero).isEmpty)
  }

  @Test func `A slow piece gives up its place to other hosts, but not to its own`() {
    let bench = Bench()
    for number in 0..<4 { bench.add("slow \(number)", of: "slow") }
    #expect(bench.begin(at: .zero) == ["slow 0", "slow 1"])
    bench.add("quick", of: "quick")
    #expect(bench.begin(at: .milliseconds(19)).isEmpty)
    #expect(bench.nextChange(after: .milliseconds(19)) == Self.patience)

    #expect(bench.begin(at: .milliseconds(20)) == ["quick"])
    bench.end("quick", at: .milliseconds(21))
    #expect(bench.begin(at: .seconds(9)).isEmpty && bench.nextChange(after: .seconds(9)) == nil)

    bench.end("slow 0", at: .seconds(9))
    #expect(bench.begin(at: .seconds(9)) == ["slow 2"])
  }

  @Test func `No more than twice as many pieces run as there are threads`() {
    let bench = Bench()
    for host in ["a", "b", "c"] {
      for number in 0..<4 { bench.add("\(host)\(number)", of: host) }
    }
    #expect(bench.begin(at: .zero).count == 2)
    #expect(bench.begin(at: .seconds(1)).count == 2)
    #expect(bench.begin(at: .seconds(2)).isEmpty && bench.nextChange(after: .seconds(2)) == nil)
  }

  @Test func `A piece without a host is never slow`() {
    let bench = Bench(width: 1)
    bench.add("nobody's", of: nil, .high)
    #expect(bench.begin(at: .zero).count == 1)
    bench.add("other", of: "host")
    #expect(bench.begin(at: .seconds(60)).isEmpty && bench.nextChange(after: .seconds(60)) == nil)
  }

  @Test func `The host that has used the least time comes first, and time without pieces saves none`() {
    let bench = Bench(width: 1)
    for name in ["a0", "a1", "a2", "a3"] { bench.add(name, of: "a") }
    var (now, order) = (Duration.zero, [String]())
    func step() {
      for name in bench.begin(at: now) {
        now += .milliseconds(10)
        bench.end(name, at: now)
        order.append(name)
      }
    }
    for _ in 0..<2 { step() }
    // This host has waited for nothing so far, and gets no more than its share of the time from now on.
    for number in 0..<5 { bench.add("b\(number)", of: "b") }
    for _ in 0..<7 { step() }

    #expect(order == ["a0", "a1", "b0", "a2", "b1", "a3", "b2", "b3", "b4"])
  }

  @Test func `The time of hosts without pieces takes bounded memory`() {
    let bench = Bench(width: 1)
    for number in 0..<5_000 {
      bench.add("\(number)", of: "\(number)")
      #expect(bench.begin(at: .seconds(number)) == ["\(number)"])
      bench.end("\(number)", at: .seconds(number + 1))
      #expect(bench.rememberedCount <= 1025)
    }
  }

  // MARK: A hostile host

  /// The load of a host: images that arrive at some interval, and take some time.
  struct Load: Sendable, CustomTestStringConvertible {
    var count: Int
    var interval: Duration
    var cost: Duration

    var testDescription: String { "\(count) images of \(cost), one each \(interval)" }
  }

  /// Renders the images of some hosts in virtual time. Returns the time at which those of each host are done.
  ///
  /// The processors are as many as the threads, and pieces that run at the same time share them.
  private static func run(_ loads: [String: Load], width: Int) -> [String: Duration] {
    var schedule = RenderSchedule<String>(width: width, patience: patience)
    var arrivals = loads.flatMap { host, load in (0..<load.count).map { (host, load.interval * $0) } }
    arrivals.sort { ($0.1, $0.0) > ($1.1, $1.0) }
    var rest: [RenderSchedule<String>.Ticket: (host: String, work: Duration)] = [:]
    var (now, ends) = (Duration.zero, [String: Duration]())
    while !arrivals.isEmpty || !rest.isEmpty || schedule.waitingCount > 0 {
      while let (host, time) = arrivals.last, time <= now {
        arrivals.removeLast()
        _ = schedule.add(host, of: host, .normal)
      }
      while let (ticket, host) = schedule.next(now: now) { rest[ticket] = (host, loads[host]?.cost ?? .zero) }
      let share = max(1, Double(rest.count) / Double(width))
      let end = rest.values.map { now + $0.work * share }.min()
      let times = [end, arrivals.last?.1, schedule.nextChange(after: now)].compactMap { $0 }
      guard let next = times.min() else { break }
      for (ticket, piece) in rest {
        rest[ticket]?.work -= (next - now) / share
        guard now + piece.work * share <= next + .nanoseconds(1) else { continue }
        rest[ticket] = nil
        schedule.end(ticket, now: next)
        ends[piece.host] = next
      }
      now = next
    }
    return ends
  }

  private static let hostile = [
    Load(count: 40, interval: .zero, cost: .seconds(10)), Load(count: 400, interval: .zero, cost: .seconds(1)),
    Load(count: 4000, interval: .zero, cost: .milliseconds(100)),
    Load(count: 20_000, interval: .zero, cost: .milliseconds(19)),
    Load(count: 40, interval: .seconds(1), cost: .seconds(10)),
  ]

  @Test(arguments: [1, 2, 8], hostile)
  func `A host with slow images costs others at most twice their time`(width: Int, hostile: Load) throws {
    for load in [
      Load(count: 2000, interval: .zero, cost: .milliseconds(2)),
      Load(count: 200, interval: .zero, cost: .milliseconds(30)),
      Load(count: 400, interval: .milliseconds(20), cost: .milliseconds(2)),
    ] {
      let alone = try #require(Self.run(["healthy": load], width: width)["healthy"])
      let beside = try #require(Self.run(["healthy": load, "attacker": hostile], width: width)["healthy"])
      #expect(beside <= alone * 2 + Self.patience * 2, "\(load): \(alone), \(beside)")
    }
  }

  @Test func `One of many hosts with slow images costs the others no more than its share`() throws {
    var loads: [String: Load] = [:]
    for number in 0..<10 { loads["\(number)"] = Load(count: 100, interval: .zero, cost: .milliseconds(10)) }
    let alone = try #require(Self.run(loads, width: 2).values.max())
    loads["attacker"] = Load(count: 1000, interval: .zero, cost: .milliseconds(15))

    var ends = Self.run(loads, width: 2)
    ends["attacker"] = nil
    #expect(try #require(ends.values.max()) < alone * 1.2)
  }
}
