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
  /// The hosts whose last response had a content coding that nobody knows, so that nothing is to be decoded.
  private var undecodedHosts: Set<String> = []
  private var header: (fields: HTTPFields, lines: CurlList)?

  /// The maximum number of allowed peers, and of such hosts. At the limit, all are removed.
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

  /// Returns how to read the next response of the host.
  func reading(of host: String) -> ResponseReading { undecodedHosts.contains(host) ? .undecoded : .decoded }

  /// Remembers whether the content codings of the host are to be decoded.
  func setReading(_ reading: ResponseReading, of host: String) {
    if undecodedHosts.count >= Self.peerCapacity { undecodedHosts = [] }
    if reading == .undecoded { undecodedHosts.insert(host) } else { undecodedHosts.remove(host) }
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

/// The IP addresses in libcurl's name cache, which all transfers of one event loop share. A transfer gives libcurl the
/// IP addresses of its host only if they are missing here, because libcurl parses them each time.
///
/// An entry counts once a transfer that set it has got as far as its connection: before that, the transfer may end
/// without libcurl having read the IP addresses.
struct KnownAddresses {
  /// A host and the port to connect to.
  struct Key: Hashable {
    /// The host name that libcurl looks up, perhaps with a final dot.
    let host: String
    /// The port.
    let port: Int
  }

  /// The identity of an entry that a transfer has set.
  struct Ticket {
    fileprivate let key: Key
    fileprivate let number: Int
  }

  private struct Entry {
    let addresses: [IPAddress]
    let expiry: ContinuousClock.Instant
    let number: Int
    var isLoaded = false
  }

  private var entries: [Key: Entry] = [:]
  private var lastNumber = 0

  /// The time for which an entry counts. libcurl must keep it for longer, by the longest time that a transfer waits for
  /// a connection; see `CURLOPT_DNS_CACHE_TIMEOUT`.
  static let lifetime = Duration.seconds(30)
  /// The maximum number of entries. At the limit, all are removed. libcurl keeps at least 29,999.
  static let capacity = 1024

  /// Returns a ticket if the transfer has to set `addresses`; nil if libcurl has them.
  mutating func ticket(for key: Key, _ addresses: [IPAddress], now: ContinuousClock.Instant) -> Ticket? {
    if let entry = entries[key], entry.isLoaded, entry.expiry > now, entry.addresses == addresses { return nil }
    if entries.count >= Self.capacity { entries = [:] }
    lastNumber += 1
    entries[key] = Entry(addresses: addresses, expiry: now + Self.lifetime, number: lastNumber)
    return Ticket(key: key, number: lastNumber)
  }

  /// Records that libcurl has read the IP addresses of `ticket`. Does nothing if another transfer has set those of the
  /// host since.
  mutating func load(_ ticket: Ticket) {
    guard entries[ticket.key]?.number == ticket.number else { return }
    entries[ticket.key]?.isLoaded = true
  }
}
