import ArgumentParser

/// A number of bytes.
struct ByteSize: Hashable, Sendable {
  /// The bytes, at least 0.
  var count: Int
}

extension ByteSize {
  private static let units: [(name: String, factor: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000),
    ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000), ("B", 1), ("", 1),
  ]

  /// Parses `32MiB`, `2GiB`, `1.5GB`, `500k` or `4096`. Units with an `i` are powers of 1024, others powers of 1000.
  /// Case does not matter.
  init(_ text: String) throws {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[number.endIndex...].lowercased()
    guard let factor = Self.units.first(where: { $0.name.lowercased() == unit })?.factor,
      let count = UnitNumber.integer(number, times: factor)
    else { throw ValidationError("give a number of bytes such as 500k, 32MiB or 2GiB") }
    self.count = count
  }

  /// Parses the size of a cache. A number below 1 MiB needs a unit: `500` would empty a cache that was to have 500 MiB.
  init(ofCache text: String) throws {
    try self.init(text)
    guard let number = Int(text), number != 0, number < 1 << 20 else { return }
    throw ValidationError("\(text) without a unit would be bytes; give \(text)MiB, for example, or \(text)B")
  }
}

extension ByteSize: CustomStringConvertible {
  /// The size in the largest power of 1024 that it reaches, with at most one decimal: `32 MiB`, `1.5 GiB`, `17 B`.
  var description: String {
    for (name, factor) in Self.units.prefix(3) where count >= factor {
      let text = (Double(count) / Double(factor)).text(places: 1)
      return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " " + name
    }
    return "\(count) B"
  }
}

/// Parses the number in front of a unit.
enum UnitNumber {
  /// Returns `digits`, a decimal number with or without a fraction, times `factor`. Returns nil if `digits` is not a
  /// number, or if the product overflows.
  static func integer(_ digits: Substring, times factor: Int) -> Int? {
    if let whole = Int(digits) {
      let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
      return overflow || whole < 0 ? nil : product
    }
    guard digits.first != ".", digits.last != ".", let value = Double(digits) else { return nil }
    return Int(exactly: (value * Double(factor)).rounded())
  }
}
