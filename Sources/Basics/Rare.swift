/// Keeps a value that few objects have in an object next to them, so that the others are smaller by its size.
@propertyWrapper
package struct Rare<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box?

  package init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

  package var wrappedValue: Value? {
    get { box?.value }
    set { box = newValue.map(Box.init) }
  }
}

extension Rare: Equatable where Value: Equatable {
  package static func == (a: Rare, b: Rare) -> Bool { a.wrappedValue == b.wrappedValue }
}

extension Rare: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

/// A type with one value that most objects have.
package protocol HasUsualValue: Equatable, Sendable {
  /// Creates the usual value.
  init()
}

/// Keeps a value that differs from the usual one in an object next to those that have it, as ``Rare`` does.
@propertyWrapper
package struct Usual<Value: HasUsualValue>: Sendable {
  @Rare private var other: Value? = nil

  package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  package var wrappedValue: Value {
    get { other ?? Value() }
    set { other = newValue == Value() ? nil : newValue }
  }
}

extension Usual: Equatable {}

extension Usual: Hashable where Value: Hashable {}
