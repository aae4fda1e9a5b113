/// A request as the server received it.
public struct ServerRequest: Sendable {
  /// The method, such as `GET`.
  public var method: String
  /// The request target, such as `/icon.png?size=2`.
  public var target: String
  /// The header fields, with names in lower case.
  public var fields: [String: String]
  /// The body; empty if the request has no `Content-Length`.
  public var body: [UInt8] = []
  /// The number of the connection, starting with 1.
  public var connection: UInt64
  /// The time of arrival.
  public var arrival: ContinuousClock.Instant
}

extension [ServerRequest] {
  /// Returns the longest time by which a request arrived too early for one request per `interval`, the first one at
  /// `begin`; zero or less if none did.
  ///
  /// Take a `begin` before the first request was sent. Then a busy machine cannot make this longer: it only delays
  /// arrivals. The maximum number of requests in a period is no such measure: a delay of one arrival shortens the time
  /// to the next one.
  public func lead(over interval: Duration, since begin: ContinuousClock.Instant) -> Duration {
    let times = map(\.arrival).sorted()
    return times.enumerated().map { (begin + interval * $0.offset) - $0.element }.max() ?? .zero
  }

  /// Returns the number of requests that arrived before `time`.
  public func count(before time: ContinuousClock.Instant) -> Int { count { $0.arrival < time } }
}

/// A reader of consecutive requests from one connection.
struct RequestReader {
  private let connection: Int32
  private let id: UInt64
  private var pending: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 16 << 10)

  init(_ connection: Int32, id: UInt64) {
    self.connection = connection
    self.id = id
  }

  /// Returns the next request; nil when the client closes the connection.
  mutating func next() -> ServerRequest? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let range = pending.firstRange(of: end) {
        let head = String(decoding: pending[..<range.lowerBound], as: UTF8.self)
        pending.removeSubrange(..<range.upperBound)
        guard var request = request(from: head), let body = body(of: request) else { return nil }
        request.body = body
        return request
      }
      guard receive() else { return nil }
    }
  }

  /// Returns the body of a request; nil if the client closes the connection before its end.
  private mutating func body(of request: ServerRequest) -> [UInt8]? {
    let length = request.fields["content-length"].flatMap { Int($0) } ?? 0
    // Tests send fields about a body that does not follow.
    guard request.method == "PUT" else { return [] }
    while pending.count < length { guard receive() else { return nil } }
    defer { pending.removeSubrange(..<length) }
    return Array(pending[..<length])
  }

  private mutating func receive() -> Bool {
    let count = LoopbackSocket.receive(connection, into: &buffer)
    if count > 0 { pending += buffer[..<count] }
    return count > 0
  }

  private func request(from head: String) -> ServerRequest? {
    let lines = head.split(separator: "\r\n")
    guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
    }
    return ServerRequest(
      method: String(words[0]), target: String(words[1]), fields: fields, connection: id, arrival: .now)
  }
}
