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

extension Int {
  /// The number with commas between groups of three digits: `1,204`. Independent of the locale.
  var grouped: String {
    let digits = Array(String(magnitude).utf8)
    var text = self < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
  }
}
