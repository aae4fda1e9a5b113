import Foundation
import Synchronization

/// Calls `first` and `second` with each number below `count`, as nearly at the same time as two threads can. Returns
/// after the last call.
public func race(
  _ count: Int, _ first: @escaping @Sendable (Int) -> Void, against second: @escaping @Sendable (Int) -> Void
) async {
  let (arrivals, done) = (Arrivals(), Recorder<Void>())
  for body in [first, second] {
    Thread {
      for round in 0..<count {
        arrivals.meet(in: round)
        body(round)
      }
      done.record(())
    }.start()
  }
  _ = await done.values(count: 2)
}

/// The place where two threads meet before each round.
private final class Arrivals: Sendable {
  private let count = Atomic(0)

  func meet(in round: Int) {
    count.add(1, ordering: .acquiringAndReleasing)
    while count.load(ordering: .acquiring) < 2 * (round + 1) { sched_yield() }
  }
}
