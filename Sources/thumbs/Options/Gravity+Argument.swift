import ArgumentParser
import ImageCache

extension Gravity {
  /// Parses a place in any case.
  init(parsing text: String) throws {
    guard let gravity = Gravity(text.trimmingWhitespace().lowercased()) else {
      throw ValidationError(
        "give center, a point of the compass such as north or southeast, smart, or percentages such as 30%,70%")
    }
    self = gravity
  }
}
