/// An error in the configuration file. The command exits with 64 (`EX_USAGE`).
struct ConfigurationError: Error, Hashable, Sendable {
  /// The path of the file.
  var path: String
  /// The line, from 1; nil if the error concerns the whole file.
  var line: Int?
  /// The description of the error and its remedy, without the period at the end.
  var reason: String
}

extension ConfigurationError: CustomStringConvertible {
  /// One sentence with the file, the line and the reason.
  var description: String {
    let end = reason.hasSuffix(".") || reason.hasSuffix("?") ? "" : "."
    return path + (line.map { ", line \($0)" } ?? "") + ": " + reason + end
  }
}
