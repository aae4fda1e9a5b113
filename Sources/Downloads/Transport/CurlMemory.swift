internal import CCurl
internal import HTTPTypes

/// Values that the transfers of one event loop share, so that each need not make them again. Used on the loop's thread.
final class CurlMemory {
  private struct Peer: Hashable {
    let address: String
    let rule: AddressPolicy.Rule
  }

  /// The IP addresses that libcurl knows.
  var addresses = KnownAddresses()
  /// The sockets of connections by their ports (`ccurl_ports`), because libcurl 7.88 does not reveal the socket of a
  /// running transfer. Some are closed by now.
  var sockets: [Int: curl_socket_t] = [:]
  let floods: FloodGuard
  /// The bytes of responses that ended transfers got, by the ports of their connection.
  var delivered: [Int: Int] = [:]
  private var allowedPeers: Set<Peer> = []
  private var header: (fields: HTTPFields, lines: CurlList)?

  /// The maximum number of allowed peers. At the limit, all are removed.
  private static let peerCapacity = 1024

  init(floods: FloodGuard = FloodGuard()) { self.floods = floods }

  /// Returns true if `policy` is known to allow connections to the peer with the text `address`.
  func isAllowed(_ address: String, by policy: AddressPolicy) -> Bool {
    policy.dependsOnAddressOnly && allowedPeers.contains(Peer(address: address, rule: policy.rule))
  }

  /// Records that `policy` allows connections to the peer with the text `address`, unless the host matters too.
  func allow(_ address: String, by policy: AddressPolicy) {
    guard policy.dependsOnAddressOnly else { return }
    if allowedPeers.count >= Self.peerCapacity { allowedPeers = [] }
    allowedPeers.insert(Peer(address: address, rule: policy.rule))
  }

  /// Returns the header lines of a request. Most requests have the same fields as the one before.
  func headerLines(for fields: HTTPFields) -> CurlList {
    if let header, header.fields.elementsEqual(fields, by: Self.isSame) { return header.lines }
    let lines = CurlList(Self.lines(of: fields))
    header = (fields, lines)
    return lines
  }

  /// Returns the header lines of a request with a body. Unless it is signed, the body is sent without waiting for the
  /// permission of the server (status 100). Some versions of libcurl, such as 7.88, sign the line that turns the wait
  /// off as an empty field, which they do not send (curl #11664).
  static func uploadLines(for fields: HTTPFields, isSigned: Bool) -> CurlList {
    CurlList(lines(of: fields) + (isSigned ? [] : ["Expect:"]))
  }

  private static func lines(of fields: HTTPFields) -> [String] {
    fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
  }

  /// Compares two fields including the spelling of their names.
  private static func isSame(_ a: HTTPField, _ b: HTTPField) -> Bool {
    a.name.rawName == b.name.rawName && a.value == b.value
  }
}
