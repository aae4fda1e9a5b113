internal import CoreMetrics
internal import Foundation
internal import ImageCache
internal import Logging
internal import Synchronization

/// The remote cache of a pipeline: lookups, uploads and their counts.
final class RemoteTier: Sendable {
  private let client: RemoteClient
  private let codec: RemoteObjectCodec
  private let sharing: RemoteSharing
  private let monitor: RemoteMonitor
  private let now: @Sendable () -> Duration
  /// Nil if the cache is only read.
  private let writer: RemoteWriter?

  /// - Parameters:
  ///   - configuration: The server, the limits, the key.
  ///   - sharing: The sources that may be in the cache.
  ///   - inks: The profile of CMYK images without one.
  ///   - transport: Exchanges requests and responses. Default: libcurl, with the connections of `configuration`.
  ///   - now: The time of the breakers, which never goes back.
  init(
    _ configuration: RemoteCache, _ sharing: RemoteSharing, inks: InkProfile?, transport: (any Transport)? = nil,
    logger: Logger,
    metrics: any MetricsFactory, now: @escaping @Sendable () -> Duration
  ) {
    let transport = transport ?? CurlTransport(configuration.connections)
    (self.sharing, self.now) = (sharing, now)
    client = RemoteClient(configuration, transport: transport, now: now)
    // Machines that keep to public sources must not find private ones of others.
    codec = RemoteObjectCodec(
      secret: configuration.secret?.bytes, inks: inks, space: sharing.allowsPrivateSources ? "private" : "")
    monitor = RemoteMonitor(configuration.location.prefix, logger: logger, metrics: metrics)
    writer =
      configuration.access == .readOnly
      ? nil : RemoteWriter(client, codec, monitor, limit: configuration.maxPendingBytes)
  }

  /// The counts of what happened so far.
  var counters: RemoteCacheCounters { monitor.counters }

  /// Looks up a source and its thumbnails. Returns a handle that can cancel this and change its priority.
  ///
  /// - Parameters:
  ///   - images: Returns the number of images in flight, of which the lookup holds up one.
  ///   - completion: Called exactly once, on any queue, even after a cancel. May block.
  func lookUp(
    _ query: RemoteQuery, _ priority: Priority, among images: @escaping @Sendable () -> Int,
    completion: @escaping @Sendable (RemoteFinding) -> Void
  ) -> WorkHandle {
    let begin = now()
    let lookup = RemoteLookup(query, in: client, codec, sharing, priority: priority) { [monitor, client, now] finding in
      if finding.problem != .cancelled {
        let event = finding.event(of: query.specs)
        monitor.count(event, because: finding.problem)
        client.looked(for: now() - begin, isHit: event == .hit, among: images())
      }
      completion(finding)
    }
    return lookup.start()
  }

  /// Uploads the objects of a source in the background.
  func upload(_ write: RemoteWrite) { writer?.add(write) }

  /// Blocks until the uploads have ended, but no longer than `limit`, less the time that lookups have cost already, and
  /// not at all while the server is skipped; see ``RemoteWriter/flush(within:)``.
  func flush(within limit: Duration) { writer?.flush(within: client.uploadTime(within: limit)) }

  /// Drops all uploads, those that come later included.
  func dropUploads() { writer?.close() }
}

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
