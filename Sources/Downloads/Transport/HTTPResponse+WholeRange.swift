internal import HTTPTypes

extension HTTPResponse {
  /// True for a 206 that contains the complete body, which some servers send although no range was requested. Such a
  /// response is equivalent to a 200 (RFC 9110, sections 14.4 and 15.3.7).
  var holdsWholeRange: Bool {
    guard status == .partialContent, let range = headerFields[.contentRange] else { return false }
    let numbers = range.split { !$0.isNumber }.compactMap { Int($0) }
    return range.hasPrefix("bytes 0-") && numbers.count == 3 && numbers[2] > 0 && numbers[1] == numbers[2] - 1
  }
}
