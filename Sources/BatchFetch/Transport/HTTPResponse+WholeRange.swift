internal import HTTPTypes

extension HTTPResponse {
  /// Whether this is a 206 with all there is: what some servers give to those who asked for no range. Such an answer is
  /// as good as a 200 (RFC 9110, 14.4 and 15.3.7).
  var holdsWholeRange: Bool {
    guard status == .partialContent, let range = headerFields[.contentRange] else { return false }
    let numbers = range.split { !$0.isNumber }.compactMap { Int($0) }
    return range.hasPrefix("bytes 0-") && numbers.count == 3 && numbers[2] > 0 && numbers[1] == numbers[2] - 1
  }
}
