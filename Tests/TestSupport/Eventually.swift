/// Returns when the condition holds. Use it for effects without an event to wait for, such as the release of memory.
/// The time limit of the suite bounds the wait.
public func eventually(_ condition: () -> Bool, isolation: isolated (any Actor)? = #isolation) async {
  while !condition(), !Task.isCancelled { await Task.yield() }
}
