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
