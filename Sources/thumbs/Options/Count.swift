import ArgumentParser

/// Parses numbers in options.
enum Count {
  /// Parses a whole number from 1 to 65535.
  static func positive(_ text: String) throws -> Int { try number(text, in: 1...65535) }

  /// Parses a whole number from 0 to 65535.
  static func natural(_ text: String) throws -> Int { try number(text, in: 0...65535) }

  /// Parses a number of seconds from 0.001 to 86400 (a day), with or without a fraction.
  static func seconds(_ text: String) throws -> Duration {
    guard let seconds = Double(text), seconds >= 0.001, seconds <= 86400 else {
      throw ValidationError("give a number of seconds from 0.001 to 86400")
    }
    return .seconds(seconds)
  }

  private static func number(_ text: String, in range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw ValidationError("give a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
