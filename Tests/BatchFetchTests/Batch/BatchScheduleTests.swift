import Testing

@testable import BatchFetch
@testable import Downloads

/// The duration of a batch compared with the shortest possible one, in virtual time.
@Suite struct BatchScheduleTests {
  /// A manifest whose rows are grouped by host.
  struct Manifest: CustomTestStringConvertible {
    let hosts: Int
    let rowsPerHost: Int

    var testDescription: String { "\(hosts) hosts of \(rowsPerHost) rows" }
    var rows: [Int] { (0..<hosts).flatMap { Array(repeating: $0, count: rowsPerHost) } }
  }

  private static let manifests = [
    Manifest(hosts: 10, rowsPerHost: 200), Manifest(hosts: 4, rowsPerHost: 3000), Manifest(hosts: 200, rowsPerHost: 10),
    Manifest(hosts: 20, rowsPerHost: 2000),
  ]

  @Test(arguments: manifests) func `Rows grouped by host take at most 1.15 of the ideal time`(manifest: Manifest) {
    var simulation = Simulation(manifest.rows)

    let ratio = simulation.run() / simulation.idealTime

    #expect((1...1.15).contains(ratio))
    #expect(simulation.finished == manifest.rows.count)
  }

  @Test(arguments: [0, 4, 9])
  func `A host that is closed for four seconds adds at most those four seconds`(closed: Int) {
    var simulation = Simulation(Self.manifests[0].rows, refusing: closed)

    let ratio = (simulation.run() - .seconds(4)) / simulation.idealTime

    #expect(ratio <= 1.15)
    #expect(simulation.finished == 2000)
    #expect(simulation.earlyRequests == 0)
  }
}

/// A batch over a downloader with 16 transfers, 6 per host, whose servers respond after 50 ms.
private struct Simulation {
  private static let response = Duration.milliseconds(50)

  private let rows: [Int]
  private var batch = BatchState<Int>(window: 4096, lookahead: 16_384) { _ in 24 }
  private var schedule = TransferScheduler(width: 16) { _ in
    HostQueue(places: 6, rate: nil, maxFailures: nil, retry: RetryPolicy())
  }
  private var now = Duration.zero
  /// The host that refuses its first request and requests a pause of four seconds.
  private let refusing: Int?
  private var refusedUntil: Duration?
  private var tickets: [TransferScheduler.Ticket: Int] = [:]
  private var running: [(ticket: TransferScheduler.Ticket, end: Duration)] = []
  private var wakeUps: [(host: String, time: Duration)] = []
  private(set) var finished = 0
  /// The number of requests sent to a host that had requested a pause.
  private(set) var earlyRequests = 0

  init(_ rows: [Int], refusing: Int? = nil) {
    self.rows = rows
    self.refusing = refusing
  }

  var idealTime: Duration { Self.response * rows.count / 16 }

  /// Runs the batch and returns its duration.
  mutating func run() -> Duration {
    pull()
    while let time = ([running.first?.end] + wakeUps.map(\.time)).compactMap({ $0 }).min() {
      now = time
      while let first = running.first, first.end == now { end(running.removeFirst().ticket) }
      while let index = wakeUps.firstIndex(where: { $0.time == now }) {
        let (host, time) = wakeUps.remove(at: index)
        perform(schedule.wakeUp(host, requestedFor: time, now: now))
      }
    }
    return now
  }

  private mutating func pull() {
    while let row = batch.reserve() {
      guard rows.indices.contains(row) else {
        _ = batch.close()
        return
      }
      if batch.begin(row, host: "\(rows[row])", priority: .normal) { begin(row) }
    }
  }

  private mutating func begin(_ row: Int) {
    let (ticket, actions) = schedule.add(to: "\(rows[row])", .normal, isPrepared: true, now: now)
    tickets[ticket] = row
    perform(actions)
  }

  private mutating func perform(_ actions: [TransferScheduler.Action]) {
    for action in actions {
      switch action {
      case .start(let ticket):
        running.append((ticket, now + Self.response))
        if tickets[ticket].map({ rows[$0] }) == refusing, let refusedUntil, now < refusedUntil { earlyRequests += 1 }
      case .wakeUp(let host, let time): wakeUps.append((host, time))
      case .prepare, .refuse: Issue.record("unexpected: \(action)")
      }
    }
  }

  private mutating func end(_ ticket: TransferScheduler.Ticket) {
    guard let row = tickets.removeValue(forKey: ticket) else { return }
    if rows[row] == refusing, refusedUntil == nil {
      refusedUntil = now + .seconds(4)
      perform(
        schedule.end(ticket, .response(HostBackoff.PauseRequest(isLimit: true, retryAfter: .seconds(4))), now: now))
      return begin(row)
    }
    perform(schedule.end(ticket, .response(nil), now: now))
    finished += 1
    let freed = batch.release(host: "\(rows[row])")
    for row in freed.next { begin(row) }
    if freed.resumesPulling { pull() }
  }
}
