internal import Downloads

/// Decides which piece of rendering begins next. A plain value.
///
/// The highest priority comes first; within a priority, the host whose images have taken the least time so far, and of
/// a host the oldest piece. So a host with slow images gets no more time than the others, as with transfers.
///
/// As many pieces run at a time as there are threads. Rendering cannot be interrupted, so one that runs for longer than
/// ``patience`` gives up its place: a piece of another host runs at the same time, and the system shares the
/// processors. A host with such slow pieces gets none of these places. Otherwise as many slow images as there are
/// threads would hold up all other hosts until they are done.
struct RenderSchedule<Element: Sendable>: Sendable {
  /// Identifies a piece. Numbers rise in the order in which the pieces are added.
  struct Ticket: Hashable, Comparable, Sendable {
    fileprivate let number: Int

    static func < (first: Ticket, second: Ticket) -> Bool { first.number < second.number }
  }

  /// The name of a host; nil for pieces without one, which are never slow.
  typealias Host = String?

  private struct Entry {
    let element: Element
    let host: Host
    let place: PriorityLine<Ticket>.Place
  }

  private struct Run {
    let host: Host
    let begin: Duration
  }

  /// The number of hosts without pieces whose time is remembered.
  private static var rememberedHosts: Int { 1024 }

  private let width: Int
  private let patience: Duration
  private var lastNumber = 0
  private var waiting: [Ticket: Entry] = [:]
  private var running: [Ticket: Run] = [:]
  /// The pieces that wait, by host. No line is empty.
  private var lines: [Host: PriorityLine<Ticket>] = [:]
  /// The time that the pieces of each host have taken, counted from that of the other hosts when it came.
  private var used: [Host: Duration] = [:]
  /// The least time that a host with waiting pieces has used. A host that comes later begins with it: time that it did
  /// not use before gives it no advantage.
  private var leastUsed = Duration.zero

  /// - Parameters:
  ///   - width: the number of threads, at least 1.
  ///   - patience: the time after which a piece is slow.
  init(width: Int, patience: Duration) { (self.width, self.patience) = (max(1, width), patience) }

  /// The number of pieces that wait.
  var waitingCount: Int { waiting.count }

  /// The number of hosts whose time is remembered.
  var rememberedCount: Int { used.count }

  // MARK: Events

  /// Adds a piece.
  mutating func add(_ element: Element, of host: Host, _ priority: Priority) -> Ticket {
    lastNumber += 1
    let ticket = Ticket(number: lastNumber)
    if lines[host] == nil { used[host] = max(used[host] ?? leastUsed, leastUsed) }
    let place = lines[host, default: PriorityLine()].append(ticket, priority)
    waiting[ticket] = Entry(element: element, host: host, place: place)
    return ticket
  }

  /// Changes the order of a piece that waits.
  mutating func change(_ ticket: Ticket, to priority: Priority) {
    guard let entry = waiting[ticket] else { return }
    lines[entry.host]?.change(entry.place, to: priority)
  }

  /// Removes a piece that waits, and returns it; nil if it has begun.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let entry = waiting.removeValue(forKey: ticket) else { return nil }
    lines[entry.host]?.remove(entry.place)
    if lines[entry.host]?.isEmpty == true { lines[entry.host] = nil }
    return entry.element
  }

  /// Takes the next piece, which begins now; nil if none may begin.
  mutating func next(now: Duration) -> (ticket: Ticket, element: Element)? {
    guard hasPlace(at: now), let ticket = nextTicket(at: now), let entry = waiting[ticket] else { return nil }
    _ = remove(ticket)
    running[ticket] = Run(host: entry.host, begin: now)
    return (ticket, entry.element)
  }

  /// A piece has ended.
  mutating func end(_ ticket: Ticket, now: Duration) {
    guard let run = running.removeValue(forKey: ticket) else { return }
    used[run.host, default: leastUsed] += now - run.begin
    forgetHosts(after: run.host)
  }

  /// The time at which a further piece may begin although none has ended: when one of those that run becomes slow. Nil
  /// if nothing waits for that.
  func nextChange(after now: Duration) -> Duration? {
    guard !waiting.isEmpty, running.count < 2 * width else { return nil }
    return running.values.filter { $0.host != nil && !isSlow($0, at: now) }.map { $0.begin + patience }.min()
  }

  // MARK: Decisions

  private func isSlow(_ run: Run, at now: Duration) -> Bool { run.host != nil && now - run.begin >= patience }

  /// True if a piece of some host may begin.
  private func hasPlace(at now: Duration) -> Bool {
    guard running.count >= width else { return true }
    return running.count < 2 * width && running.values.count { !isSlow($0, at: now) } < width
  }

  /// Returns the piece that comes next; nil if all hosts that wait have slow pieces, and all threads are in use.
  private mutating func nextTicket(at now: Duration) -> Ticket? {
    let isFull = running.count >= width
    let slow = Set(running.values.filter { isFull && isSlow($0, at: now) }.map(\.host))
    var best: (ticket: Ticket, priority: Priority, used: Duration)?
    var least = Duration?.none
    for (host, line) in lines {
      guard let priority = line.topPriority, let ticket = line.first else { continue }
      let used = time(of: host, at: now)
      least = min(least ?? used, used)
      if slow.contains(host) { continue }
      if let best, (best.priority, used, ticket) > (priority, best.used, best.ticket) { continue }
      best = (ticket, priority, used)
    }
    leastUsed = max(leastUsed, least ?? leastUsed)
    return best?.ticket
  }

  /// Returns the time that a host has used, with that of the pieces that run.
  private func time(of host: Host, at now: Duration) -> Duration {
    running.values.reduce(used[host] ?? leastUsed) { $1.host == host ? $0 + (now - $1.begin) : $0 }
  }

  /// Forgets the time of a host that has no pieces and used no more than others. Forgets that of all hosts without
  /// pieces if they are too many.
  private mutating func forgetHosts(after host: Host) {
    let busy = Set(running.values.map(\.host))
    if lines[host] == nil, !busy.contains(host), used[host] ?? .zero < leastUsed + patience { used[host] = nil }
    guard used.count > lines.count + busy.count + Self.rememberedHosts else { return }
    used = used.filter { lines[$0.key] != nil || busy.contains($0.key) }
  }
}
