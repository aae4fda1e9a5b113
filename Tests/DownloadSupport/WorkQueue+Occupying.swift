package import Downloads
package import TestSupport

extension WorkQueue {
  /// Occupies `count` threads until `gate` opens. Returns when they are occupied: all work that they had is done.
  package func occupy(_ count: Int, until gate: Gate) async {
    let begun = Recorder<Void>()
    for _ in 0..<count {
      async(.high) {
        begun.record(())
        gate.wait()
      }
    }
    _ = await begun.values(count: count)
  }
}
