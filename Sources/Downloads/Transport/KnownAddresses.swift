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
