internal import CoreMetrics
internal import Logging
internal import Synchronization

/// Counts what happens with a remote cache and logs the first problem of each kind.
final class RemoteMonitor: Sendable {
  /// The result of one lookup or upload, with its name as the label `result` of a metric.
  enum Event: String, CaseIterable {
    case hit, miss, timeout, error, rejected, skipped
    case stored, failed, dropped

    var isLookup: Bool {
      switch self {
      case .hit, .miss, .timeout, .error, .rejected, .skipped: true
      case .stored, .failed, .dropped: false
      }
    }

    fileprivate var counter: WritableKeyPath<RemoteCacheCounters, Int> {
      switch self {
      case .hit: \.hits
      case .miss: \.misses
      case .timeout: \.timeouts
      case .error: \.errors
      case .rejected: \.rejected
      case .skipped: \.skipped
      case .stored: \.stored
      case .failed: \.failed
      case .dropped: \.dropped
      }
    }
  }

  private struct State {
    var counters = RemoteCacheCounters()
    var reported: Set<Event> = []
  }

  private let state = Mutex(State())
  private let logger: Logger
  private let place: String
  private let metrics: [Event: Counter]

  /// - Parameter place: The URL of the server, without credentials.
  init(_ place: String, logger: Logger, metrics: any MetricsFactory) {
    (self.place, self.logger) = (place, logger)
    self.metrics = Dictionary(
      uniqueKeysWithValues: Event.allCases.map { event in
        let label = "thumbs_remote_cache_\(event.isLookup ? "lookups" : "uploads")_total"
        return (event, Counter(label: label, dimensions: [("result", event.rawValue)], factory: metrics))
      })
  }

  var counters: RemoteCacheCounters { state.withLock { $0.counters } }

  /// Counts an event, and logs the reason if it is the first of its kind that has one.
  func count(_ event: Event, _ count: Int = 1, because problem: RemoteProblem? = nil) {
    let text = problem?.sentence
    let isNew = state.withLock { state in
      state.counters[keyPath: event.counter] += count
      return text != nil && state.reported.insert(event).inserted
    }
    metrics[event]?.increment(by: count)
    if isNew, let text { logger.warning("The remote cache \(place) is not available: \(text)") }
  }
}

extension RemoteProblem {
  /// The reason for people; nil if there is nothing to report.
  fileprivate var sentence: String? {
    switch self {
    case .timeout(let text), .error(let text): text
    case .unusable: "An object is damaged or from a writer with another key."
    case .skipped, .cancelled: nil
    }
  }

  /// The event of a lookup that failed.
  var lookupEvent: RemoteMonitor.Event {
    switch self {
    case .timeout: .timeout
    case .error, .cancelled: .error
    case .unusable: .rejected
    case .skipped: .skipped
    }
  }
}
