extension Double {
  /// Formats the number with `places` digits after the decimal point: `12.3`. Independent of the locale and of
  /// Foundation.
  func text(places: Int) -> String {
    let factor = (0..<places).reduce(1.0) { value, _ in value * 10 }
    let scaled = (magnitude * factor).rounded()
    guard scaled < 1e15 else { return description }
    let digits = String(Int(scaled))
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let sign = self < 0 && scaled > 0 ? "-" : ""
    return places == 0 ? sign + padded : sign + padded.dropLast(places) + "." + padded.suffix(places)
  }
}
