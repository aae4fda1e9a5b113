import Dispatch
import Glibc
import Synchronization

/// Turns Ctrl-C and a polite kill into a call. The second one ends the process at once.
final class InterruptWatch: Sendable {
  private let sources = Mutex<[any DispatchSourceSignal]>([])
  private let first = Atomic<Int32>(0)

  /// - Parameters:
  ///   - onInterrupt: called once.
  ///   - onExit: called by the second signal, before the process ends. The first one may still be at work.
  init(onInterrupt: @escaping @Sendable () -> Void, onExit: @escaping @Sendable () -> Void = {}) {
    let queue = DispatchQueue(label: "thumbs.signals")
    for number in [SIGINT, SIGTERM] {
      // The source sees the signal whatever its disposition; the default one would end the process first.
      Glibc.signal(number, SIG_IGN)
      sources.withLock { sources in
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [weak self] in self?.hear(number, onInterrupt, onExit) }
        source.activate()
        sources.append(source)
      }
    }
  }

  /// The signal that came first; nil where none came.
  var signal: Int32? {
    let number = first.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }

  private func hear(_ number: Int32, _ onInterrupt: () -> Void, _ onExit: () -> Void) {
    guard first.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing).exchanged else {
      onExit()
      _exit(128 + number)
    }
    onInterrupt()
  }
}
