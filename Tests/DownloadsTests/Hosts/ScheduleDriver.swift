@testable import Downloads

/// Drives a schedule with tickets that have names: letters for the host, then a number, then `+` or `-` for a high or a
/// low priority.
struct ScheduleDriver {
  var schedule: TransferScheduler
  /// The time in seconds.
  var now = 0.0
  private var tickets: [String: TransferScheduler.Ticket] = [:]
  private var wakeUps: [String: Duration] = [:]
  private var names: [TransferScheduler.Ticket: String] = [:]
  /// The tickets whose transfers are running, in the order in which they started.
  private(set) var running: [String] = []

  init(width: Int = 16, places: Int = 6, rate: RequestRate? = nil) {
    schedule = TransferScheduler(width: width) { _ in
      HostQueue(places: places, rate: rate, maxFailures: 3, retry: RetryPolicy())
    }
  }

  private var time: Duration { .seconds(now) }

  mutating func add(_ name: String, isPrepared: Bool = false) -> [String] {
    let host = name.contains(".") ? name : String(name.prefix { $0.isLetter })
    let priority: Priority = name.hasSuffix("+") ? .high : name.hasSuffix("-") ? .low : .normal
    let (ticket, actions) = schedule.add(to: host, priority, isPrepared: isPrepared, now: time)
    (tickets[name], names[ticket]) = (ticket, name)
    return texts(actions)
  }

  /// Adds tickets and reports each preparation as done. Returns the tickets that have started.
  mutating func addPrepared(_ names: [String]) -> [String] {
    let before = running.count
    for name in names where add(name).contains("prepare \(name)") { _ = prepared(name) }
    return Array(running[before...])
  }

  mutating func prepared(_ name: String) -> [String] {
    tickets[name].map { texts(schedule.prepared($0, now: time)) } ?? []
  }

  mutating func sent(_ name: String) -> [String] { tickets[name].map { texts(schedule.sent($0, now: time)) } ?? [] }

  mutating func end(_ name: String, _ contact: TransferScheduler.Contact = .response(nil)) -> [String] {
    running.removeAll { $0 == name }
    return tickets[name].map { texts(schedule.end($0, contact, now: time)) } ?? []
  }

  mutating func remove(_ name: String) -> [String] { tickets[name].map { texts(schedule.remove($0, now: time)) } ?? [] }

  mutating func change(_ name: String, to priority: Priority) {
    guard let ticket = tickets[name] else { return }
    for action in texts(schedule.change(ticket, to: priority, now: time)) where action.hasPrefix("prepare ") {
      _ = prepared(String(action.dropFirst(8)))
    }
  }

  mutating func suspend(_ isSuspended: Bool) -> [String] { texts(schedule.suspend(isSuspended, now: time)) }

  /// Lets the time pass until the wake-up of the host. If that time has passed already, the wake-up comes late.
  mutating func wake(_ host: String) -> [String] {
    guard let requested = wakeUps.removeValue(forKey: host) else { return ["no wake-up"] }
    let time = max(time, requested)
    now = time / .seconds(1)
    return texts(schedule.wakeUp(host, requestedFor: requested, now: time))
  }

  /// Ends the transfer of `name` and then each one that starts, with preparations that are done at once. Returns the
  /// order of the starts.
  mutating func order(endingWith name: String) -> [String] {
    var order: [String] = []
    var current: String? = name
    while let ended = current {
      var actions = end(ended)
      while let index = actions.firstIndex(where: { $0.hasPrefix("prepare ") }) {
        actions += prepared(String(actions.remove(at: index).dropFirst(8)))
      }
      order += running
      current = running.first
    }
    return order
  }

  private mutating func texts(_ actions: [TransferScheduler.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .prepare(let ticket): return "prepare \(names[ticket] ?? "?")"
      case .start(let ticket):
        running.append(names[ticket] ?? "?")
        return "start \(names[ticket] ?? "?")"
      case .refuse(let ticket, .dead): return "refuse \(names[ticket] ?? "?")"
      case .refuse(let ticket, .paused(let end)):
        return "refuse \(names[ticket] ?? "?") until \(Int(end / .seconds(1)))"
      case .wakeUp(let host, let time):
        wakeUps[host] = time
        let seconds = time / .seconds(1)
        return "wake \(host) at \(seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)")"
      }
    }
  }
}
