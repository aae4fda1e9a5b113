internal import Foundation

/// Observers, held weakly. Each hears its events one at a time and in order, on a queue of its own.
struct ObserverList: Sendable {
  private struct Entry: Sendable {
    weak let observer: (any DownloadObserver)?
    let queue: DispatchQueue
  }

  private var entries: [Entry] = []

  /// Whether nobody listens.
  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ observer: any DownloadObserver, target: DispatchQueue) {
    entries.append(Entry(observer: observer, queue: DispatchQueue(label: "thumbs.observer", target: target)))
  }

  mutating func remove(_ observer: any DownloadObserver) {
    entries.removeAll { $0.observer == nil || $0.observer === observer }
  }

  /// Tells an event. To be called under the lock that orders the events; nobody is called inside it.
  mutating func tell(_ event: @escaping @Sendable (any DownloadObserver) -> Void) {
    guard !entries.isEmpty else { return }
    entries.removeAll { $0.observer == nil }
    for entry in entries {
      entry.queue.async { if let observer = entry.observer { event(observer) } }
    }
  }
}
