extension AddressPolicy {
  /// Returns the reason why connections to `address` are refused; nil if they are allowed.
  ///
  /// - Parameter host: The host of the URL, in the form of ``SourceURL/host``.
  func refusal(of address: IPAddress, for host: String) -> String? {
    let readings = address.readings
    for reading in readings {
      guard let refused = SpecialAddresses.alwaysRefused.first(where: { $0.range.contains(reading) }) else { continue }
      if !exceptions.contains(where: { $0.names(reading, in: refused.range, for: host) }) { return refused.reason }
    }
    switch rule {
    case .noLinkLocal: return nil
    case .publicOnly:
      return SpecialAddresses.reasonNotPublic(readings) { reading in allows(reading, address, for: host) }
    case .predicate(let predicate):
      if readings.allSatisfy({ allows($0, address, for: host) }) { return nil }
      return predicate.refusal(of: address, for: host)
    }
  }

  /// Returns the reason why requests to the host `name` are refused; nil if its addresses decide. Behind a proxy, this
  /// machine does not see the address.
  ///
  /// - Parameter host: The host of the URL, in the form of ``SourceURL/host``.
  func refusal(ofName name: String, for host: String) -> String? {
    guard SpecialAddresses.metadataNames.contains(name.lowercased()) else { return nil }
    return exceptions.contains { $0.names(host) } ? nil : "a metadata service"
  }

  /// Returns the reason why requests to a host are refused whose name only the proxy can resolve; nil if they are
  /// allowed.
  func refusal(ofUnresolved host: String) -> String? {
    guard case .predicate(let predicate) = rule, !exceptions.contains(where: { $0.matches(host) }) else { return nil }
    return predicate.refusal(of: nil, for: host)
  }

  private func allows(_ reading: IPAddress, _ address: IPAddress, for host: String) -> Bool {
    exceptions.contains { $0.allows(reading, host: host) || $0.allows(address, host: host) }
  }
}
