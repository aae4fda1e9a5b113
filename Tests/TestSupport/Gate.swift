import Foundation

/// A gate that blocks threads until a test opens it. Once open, it stays open.
public final class Gate: Sendable {
  private let group = DispatchGroup()

  public init() { group.enter() }

  /// A gate that is already open.
  public static var opened: Gate {
    let gate = Gate()
    gate.open()
    return gate
  }

  /// Opens the gate for all waiting and future threads. Call it only once.
  public func open() { group.leave() }

  /// True once the gate is open.
  public var isOpen: Bool { group.wait(timeout: .now()) == .success }

  /// Blocks the calling thread until the gate opens. Call it on threads of servers and dispatch queues, never in a
  /// task.
  public func wait() { group.wait() }
}
