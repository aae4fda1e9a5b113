import ArgumentParser

/// A number of pixels.
struct PixelCount: Hashable, Sendable {
  /// The pixels, at least 1.
  var count: Int
}

extension PixelCount {
  /// Parses `100M`, `2.5G`, `640k` or `1000000`. Units are powers of 1000; case does not matter.
  init(_ text: String) throws {
    let units = ["": 1, "k": 1000, "m": 1_000_000, "g": 1_000_000_000]
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let factor = units[text[number.endIndex...].lowercased()],
      let count = UnitNumber.integer(number, times: factor), count > 0
    else { throw ValidationError("give a number of pixels such as 100M or 640k") }
    self.count = count
  }
}

extension PixelCount: CustomStringConvertible {
  /// The number in the largest unit that divides it evenly: `100M`.
  var description: String {
    for (unit, factor) in [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)] where count % factor == 0 {
      return "\(count / factor)\(unit)"
    }
    return "\(count)"
  }
}
