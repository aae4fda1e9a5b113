internal import Foundation
internal import Synchronization

/// The threads of a queue: how many there are at most, and how one is started. A plain value.
@usableFromInline package struct WorkThreads: Sendable {
  @usableFromInline package typealias Work = @Sendable () -> Void

  /// The maximum number of threads, at least 1.
  @usableFromInline let count: Int
  /// The time after which a thread that has finished a piece ends, and another is started for the next piece. Nil: a
  /// thread ends when no work is left.
  @usableFromInline var turn: Duration?
  /// Runs its argument, once, on a thread that may block.
  @usableFromInline package let spawn: @Sendable (@escaping Work) -> Void

  /// Returns threads of the system's dispatch queues. They are shared fairly: after a millisecond, a thread lets other
  /// queues go first.
  package static func dispatched(_ label: String, count: Int) -> WorkThreads {
    let queue = DispatchQueue(label: label, attributes: .concurrent)
    return WorkThreads(count: count, turn: .milliseconds(1)) { queue.async(execute: $0) }
  }

  /// Returns as many threads as there is work, each of which waits for more for some seconds. Work that takes long, or
  /// waits for another process, keeps no thread from the system's dispatch queues, which have few.
  package static func owned(_ label: String) -> WorkThreads {
    let crew = ThreadCrew(label: label)
    return WorkThreads(count: .max) { crew.run($0) }
  }
}

/// Threads that are kept for some seconds after their work.
private final class ThreadCrew: Sendable {
  /// A thread that waits for work.
  private final class Member: Sendable {
    let wake = DispatchSemaphore(value: 0)
    let work = Mutex<WorkThreads.Work?>(nil)
  }

  private static let patience = DispatchTimeInterval.seconds(5)

  private let label: String
  private let idle = Mutex<[Member]>([])

  init(label: String) { self.label = label }

  /// Runs `work` on a thread that is idle, or on a new one.
  func run(_ work: @escaping WorkThreads.Work) {
    let member = idle.withLock { $0.popLast() } ?? hire()
    member.work.withLock { $0 = work }
    member.wake.signal()
  }

  private func hire() -> Member {
    let member = Member()
    let thread = Thread { [self] in serve(member) }
    thread.name = label
    thread.start()
    return member
  }

  /// The life of one thread: takes work until none has come for a while.
  private func serve(_ member: Member) {
    member.wake.wait()
    repeat {
      member.work.withLock { $0.take() }?()
      idle.withLock { $0.append(member) }
    } while member.wake.wait(timeout: .now() + Self.patience) == .success || !leave(member)
  }

  /// Removes a thread from those that are idle. Returns false if work has come for it by then.
  private func leave(_ member: Member) -> Bool {
    let isIdle = idle.withLock { members in
      members.firstIndex { $0 === member }.map { _ = members.remove(at: $0) } != nil
    }
    // Thread A has taken this thread from the list, and is about to signal it.
    if !isIdle { member.wake.wait() }
    return isIdle
  }
}
