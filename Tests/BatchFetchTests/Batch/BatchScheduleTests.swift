import Testing

@testable import BatchFetch

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

    let ratio = Double(simulation.run()) / simulation.idealTime

    #expect((1...1.15).contains(ratio))
    #expect(simulation.finished == manifest.rows.count)
  }

  @Test(arguments: [0, 4, 9])
  func `A host that is closed for four seconds adds at most those four seconds`(closed: Int) {
    var simulation = Simulation(Self.manifests[0].rows, refusing: closed)

    let ratio = Double(simulation.run() - 4000) / simulation.idealTime

    #expect(ratio <= 1.15)
    #expect(simulation.finished == 2000)
  }
}

/// A batch over a downloader with 16 transfers, 6 per host, whose servers respond after 50 ms. The transfers serve the
/// downloads in the order in which they come from the queues of their hosts. Times are in milliseconds.
private struct Simulation {
  private let rows: [Int]
  private var batch = BatchState<Int>(window: 256, lookahead: 16_384) { _ in 24 }
  private var now = 0
  /// The host that refuses its first request and is then closed for four seconds.
  private var refusing: Int?
  private var closed: (host: Int, until: Int)?
  private var held: [Int] = []
  /// The rows that wait for a place at their host, and the number of places taken, by host.
  private var waiting: [FIFO<Int>]
  private var places: [Int]
  private var ready = FIFO<Int>()
  private var running: [(row: Int, end: Int)] = []
  private(set) var finished = 0

  init(_ rows: [Int], refusing: Int? = nil) {
    self.rows = rows
    self.refusing = refusing
    let hosts = (rows.max() ?? 0) + 1
    waiting = Array(repeating: FIFO(), count: hosts)
    places = Array(repeating: 0, count: hosts)
  }

  var idealTime: Double { Double(rows.count) * 50 / 16 }

  /// Runs the batch and returns its duration.
  mutating func run() -> Int {
    pull()
    startTransfers()
    while let time = [running.first?.end, closed?.until].compactMap({ $0 }).min() {
      now = time
      while let first = running.first, first.end == now { end(running.removeFirst().row) }
      if let closed, closed.until == now { reopen() }
      startTransfers()
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
    if places[rows[row]] < 6 { enter(row) } else { waiting[rows[row]].append(row) }
  }

  private mutating func enter(_ row: Int) {
    places[rows[row]] += 1
    if closed?.host == rows[row] { held.append(row) } else { ready.append(row) }
  }

  private mutating func startTransfers() {
    while running.count < 16, let row = ready.popFirst() { running.append((row, now + 50)) }
  }

  private mutating func end(_ row: Int) {
    let host = rows[row]
    if refusing == host {
      refusing = nil
      closed = (host, now + 4000)
      return held.append(row)
    }
    finished += 1
    places[host] -= 1
    if let next = waiting[host].popFirst() { enter(next) }
    let freed = batch.release(host: "\(host)")
    for row in freed.next { begin(row) }
    if freed.resumesPulling { pull() }
  }

  private mutating func reopen() {
    closed = nil
    for row in held { ready.append(row) }
    held = []
  }
}
