import ArgumentParser

/// Parses numbers in options.
enum Count {
  /// Parses a whole number from 1 to 65535.
  static func positive(_ text: String) throws -> Int { try number(text, in: 1...65535) }

  /// Parses a whole number from 0 to 65535.
  static func natural(_ text: String) throws -> Int { try number(text, in: 0...65535) }

  /// Parses a number of seconds, with or without a fraction. The default range is 0.001 to 86400 (a day).
  static func seconds(_ text: String, in range: ClosedRange<Double> = 0.001...86_400) throws -> Duration {
    guard let seconds = Double(text), range.contains(seconds) else {
      throw ValidationError("give a number of seconds from \(bound(range.lowerBound)) to \(bound(range.upperBound))")
    }
    return .seconds(seconds)
  }

  /// Returns the number without a fraction of zero: `86400`, `0.001`.
  private static func bound(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

  private static func number(_ text: String, in range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw ValidationError("give a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
