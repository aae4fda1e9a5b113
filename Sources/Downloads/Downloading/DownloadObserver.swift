internal import Foundation

/// Observes all downloads of a downloader.
///
/// Each download has one start and one finish, however many callers share it, and the events of an observer arrive one
/// at a time, in order. All methods have a default implementation that does nothing.
public protocol DownloadObserver: AnyObject, Sendable {
  /// A new download was created. It may wait for its turn before its first attempt.
  func downloadDidStart(_ source: SourceURL)
  /// Bytes were received. Called at most once per interval (``Downloader/Configuration/progressInterval``).
  func download(_ source: SourceURL, didProgress progress: DownloadProgress)
  /// The download has ended, with `cancelled` if its last caller has left.
  func downloadDidFinish(_ source: SourceURL, _ result: Result<Download, FetchFailure>)
}

extension DownloadObserver {
  /// Does nothing.
  public func downloadDidStart(_ source: SourceURL) {}
  /// Does nothing.
  public func download(_ source: SourceURL, didProgress progress: DownloadProgress) {}
  /// Does nothing.
  public func downloadDidFinish(_ source: SourceURL, _ result: Result<Download, FetchFailure>) {}
}

/// A list of observers, held weakly. Each is notified on its own serial queue.
struct ObserverList: Sendable {
  private struct Entry: Sendable {
    weak let observer: (any DownloadObserver)?
    let queue: DispatchQueue
  }

  private var entries: [Entry] = []

  /// True if there are no observers.
  var isEmpty: Bool { entries.isEmpty }

  /// Adds an observer, unless it is in the list. Returns the observers it loaded, as ``remove(_:)`` does.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - target: the queue that the observer's own queue uses.
  ///   - started: the sources of the downloads in flight, whose starts the observer has missed.
  mutating func add(
    _ observer: any DownloadObserver, target: DispatchQueue, started: [SourceURL] = []
  ) -> [any DownloadObserver] {
    let known = removeAll { _ in false }
    guard !known.contains(where: { $0 === observer }) else { return known }
    let entry = Entry(observer: observer, queue: DispatchQueue(label: "thumbs.observer", target: target))
    entries.append(entry)
    entry.queue.async { for source in started { entry.observer?.downloadDidStart(source) } }
    return known
  }

  /// Removes an observer, and those that were released. Returns the observers whose weak references it loaded. The
  /// caller must keep them until it has unlocked: the result may hold the last reference to one of them by now, and its
  /// `deinit` must not run under the lock.
  mutating func remove(_ observer: any DownloadObserver) -> [any DownloadObserver] { removeAll { $0 === observer } }

  /// Removes the released observers and those that `isRemoved` accepts. Returns all that it has loaded.
  private mutating func removeAll(where isRemoved: (any DownloadObserver) -> Bool) -> [any DownloadObserver] {
    let known = entries.map { ($0, $0.observer) }
    entries = known.filter { !($0.1.map(isRemoved) ?? true) }.map(\.0)
    return known.compactMap(\.1)
  }

  /// Notifies all observers of an event. Released ones stay in the list until the next change: finding them out would
  /// load their weak references here. Called under the lock that orders the events; the observers are called later,
  /// outside that lock.
  func notify(_ event: @escaping @Sendable (any DownloadObserver) -> Void) {
    for entry in entries {
      entry.queue.async { if let observer = entry.observer { event(observer) } }
    }
  }
}

/// An event of a download, however many callers share it.
public enum DownloadEvent: Sendable {
  /// A new download was created. It may wait for its turn before its first attempt.
  case started(SourceURL)
  /// Bytes were received. At most one per interval (``Downloader/Configuration/progressInterval``).
  case progressed(SourceURL, DownloadProgress)
  /// The download has ended, with `cancelled` if its last caller has left.
  case finished(SourceURL, Result<Download, FetchFailure>)
}

extension Downloader {
  /// The events of all downloads from now on, beginning with the start of each that is in flight. Each use makes a new
  /// stream, which ends when the downloader is released or when its reader stops. Events that are not read take memory.
  ///
  /// ```swift
  /// for await case .progressed(let source, let progress) in downloader.events {
  ///   print(source, progress.received)
  /// }
  /// ```
  public var events: AsyncStream<DownloadEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: DownloadEvent.self)
    let observer = EventObserver(continuation)
    addObserver(observer)
    context.keep(observer)
    continuation.onTermination = { [weak context, weak observer] _ in
      guard let context, let observer else { return }
      context.drop(observer)
    }
    return stream
  }
}

/// Passes events on to a stream, which ends with it.
final class EventObserver: DownloadObserver {
  private let continuation: AsyncStream<DownloadEvent>.Continuation

  init(_ continuation: AsyncStream<DownloadEvent>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }

  func downloadDidStart(_ source: SourceURL) { continuation.yield(.started(source)) }

  func download(_ source: SourceURL, didProgress progress: DownloadProgress) {
    continuation.yield(.progressed(source, progress))
  }

  func downloadDidFinish(_ source: SourceURL, _ result: Result<Download, FetchFailure>) {
    continuation.yield(.finished(source, result))
  }
}
