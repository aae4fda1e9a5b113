import Foundation

/// Holds threads back until a test lets them go. Once open, it stays open.
public final class Gate: Sendable {
  private let group = DispatchGroup()

  public init() { group.enter() }

  /// One that holds back nobody.
  public static var opened: Gate {
    let gate = Gate()
    gate.open()
    return gate
  }

  /// Lets everyone through, now and later. To be called once.
  public func open() { group.leave() }

  /// Whether it lets everyone through.
  public var isOpen: Bool { group.wait(timeout: .now()) == .success }

  /// Blocks the calling thread, which must be a server's or a queue's own.
  public func wait() { group.wait() }
}
