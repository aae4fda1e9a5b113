internal import Downloads
internal import Synchronization

/// Runs pieces of rendering on a few threads, in the order of a ``RenderSchedule``. A piece that waits can change its
/// priority and can be canceled.
final class RenderQueue: Sendable {
  typealias Work = WorkThreads.Work

  /// The time after which a piece is slow: few images take longer, and those of other hosts wait no longer than that.
  static let patience = Duration.milliseconds(20)

  private struct Piece: Sendable {
    let work: Work
    let onCancel: Work
  }

  private struct State {
    var schedule: RenderSchedule<Piece>
    /// The time of the wake-up that was requested last; nil once it has come.
    var wakeUp: Duration?
  }

  private typealias Start = (ticket: RenderSchedule<Piece>.Ticket, element: Piece)

  private let threads: WorkThreads
  private let state: Mutex<State>
  private let now: @Sendable () -> Duration
  private let after: @Sendable (Duration, @escaping Work) -> Void

  /// - Parameters:
  ///   - width: the number of pieces at a time; twice as many while some are slow.
  ///   - threads: the threads.
  ///   - now: returns the time.
  ///   - after: calls its second argument after a pause.
  init(
    width: Int, _ threads: WorkThreads, now: @escaping @Sendable () -> Duration,
    after: @escaping @Sendable (Duration, @escaping Work) -> Void
  ) {
    (self.threads, self.now, self.after) = (threads, now, after)
    state = Mutex(State(schedule: RenderSchedule(width: width, patience: Self.patience)))
  }

  /// The number of pieces that wait for a thread.
  var waitingCount: Int { state.withLock { $0.schedule.waitingCount } }

  /// Runs `work` when its turn comes. Returns a handle that can cancel the work and change its priority until then.
  ///
  /// - Parameters:
  ///   - priority: The order among the pieces that wait. Default: normal.
  ///   - host: The host of the image; nil for none.
  ///   - onCancel: Called instead of `work`, on the thread that cancels it. Default: nothing.
  ///   - work: Called once, unless it is canceled while it waits. It may block.
  @discardableResult
  func async(
    _ priority: Priority = .normal, of host: String? = nil, onCancel: @escaping Work = {}, _ work: @escaping Work
  ) -> WorkHandle {
    let ticket = begin { $0.add(Piece(work: work, onCancel: onCancel), of: host, priority) }
    return WorkHandle { [self] in
      state.withLock { $0.schedule.remove(ticket) }?.onCancel()
    } setPriority: { [self] priority in
      state.withLock { $0.schedule.change(ticket, to: priority) }
    }
  }

  /// Returns the result of a change, after which the pieces that may begin do so.
  private func begin<Result: Sendable>(_ change: (inout RenderSchedule<Piece>) -> Result) -> Result {
    let (result, starts, pause) = advance(change)
    for start in starts { threads.spawn { [self] in run(start) } }
    wakeUp(after: pause)
    return result
  }

  /// Runs a piece, and then those that may begin when it has ended: one on this thread, the others on further ones.
  private func run(_ start: Start) {
    var next = Optional(start)
    while let (ticket, piece) = next.take() {
      piece.work()
      let (_, starts, pause) = advance { [now = now()] in $0.end(ticket, now: now) }
      for start in starts.dropFirst() { threads.spawn { [self] in run(start) } }
      wakeUp(after: pause)
      next = starts.first
    }
  }

  /// Returns the result of a change, the pieces that begin now, and the pause after which others may.
  private func advance<Result: Sendable>(
    _ change: (inout RenderSchedule<Piece>) -> Result
  ) -> (result: Result, starts: [Start], pause: Duration?) {
    let now = now()
    return state.withLock { state in
      let result = change(&state.schedule)
      var starts: [Start] = []
      while let start = state.schedule.next(now: now) { starts.append(start) }
      guard let time = state.schedule.nextChange(after: now), state.wakeUp.map({ time < $0 }) ?? true else {
        return (result, starts, nil)
      }
      state.wakeUp = time
      return (result, starts, time - now)
    }
  }

  private func wakeUp(after pause: Duration?) {
    guard let pause else { return }
    after(pause) { [weak self] in
      guard let self else { return }
      state.withLock { $0.wakeUp = nil }
      begin { _ in }
    }
  }
}

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
    let place: PriorityQueue<Ticket>.Place
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
  private var queues: [Host: PriorityQueue<Ticket>] = [:]
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
    if queues[host] == nil { used[host] = max(used[host] ?? leastUsed, leastUsed) }
    let place = queues[host, default: PriorityQueue()].append(ticket, priority)
    waiting[ticket] = Entry(element: element, host: host, place: place)
    return ticket
  }

  /// Changes the order of a piece that waits.
  mutating func change(_ ticket: Ticket, to priority: Priority) {
    guard let entry = waiting[ticket] else { return }
    queues[entry.host]?.change(entry.place, to: priority)
  }

  /// Removes a piece that waits, and returns it; nil if it has begun.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let entry = waiting.removeValue(forKey: ticket) else { return nil }
    queues[entry.host]?.remove(entry.place)
    if queues[entry.host]?.isEmpty == true { queues[entry.host] = nil }
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
    for (host, queue) in queues {
      guard let priority = queue.topPriority, let ticket = queue.first else { continue }
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
    if queues[host] == nil, !busy.contains(host), used[host] ?? .zero < leastUsed + patience { used[host] = nil }
    guard used.count > queues.count + busy.count + Self.rememberedHosts else { return }
    used = used.filter { queues[$0.key] != nil || busy.contains($0.key) }
  }
}
