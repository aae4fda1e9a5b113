/// Returns when the condition holds: for what follows an event on its own time, such as memory being freed. The time
/// limit of the suite bounds it.
public func eventually(_ condition: () -> Bool, isolation: isolated (any Actor)? = #isolation) async {
  while !condition() { await Task.yield() }
}
