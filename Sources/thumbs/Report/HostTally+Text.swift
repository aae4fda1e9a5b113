extension HostTally {
  /// The maximum number of hosts in each list of the JSON form.
  private static let listLength = 10

  /// The lines of a summary for people: none for a single host, about which they would only repeat other lines.
  var lines: [String] {
    guard hosts.count > 1 else { return [] }
    let slowest = slowest(3).map { "\($0.name) \($0.host.meanTime.secondsText) s" }
    let failing = mostFailing(3).map { "\($0.name) \($0.host.failed) of \($0.host.rows)" }
    return (slowest.isEmpty ? [] : ["  slowest hosts: " + slowest.joined(separator: ", ")])
      + (failing.isEmpty ? [] : ["  most failures: " + failing.joined(separator: ", ")])
  }

  /// Writes the member `hosts` of a summary.
  func write(to text: inout JSONText) {
    text.key("hosts")
    text.object { text in
      text.member("count", hosts.count)
      text.member("unlistedItems", unlistedRows)
      text.objects("slowest", slowest(Self.listLength), Self.write)
      text.objects("failing", mostFailing(Self.listLength), Self.write)
    }
  }

  private static func write(_ entry: (name: String, host: Host), to text: inout JSONText) {
    text.member("host", entry.name)
    text.member("downloads", entry.host.downloads)
    text.member("mean", entry.host.meanTime.wholeMilliseconds)
    text.member("items", entry.host.rows)
    text.member("failed", entry.host.failed)
  }
}
