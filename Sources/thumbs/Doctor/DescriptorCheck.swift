import ImageCache

/// Checks how many files and connections may be open. A run raises the limit to its maximum.
struct DescriptorCheck: DoctorCheck {
  /// The number of descriptors with which a run with the default options is never held back: its connections, and
  /// everything else.
  static let enough = 256 + DescriptorLimit.others

  var limits: ResourceLimit

  var findings: [Finding] {
    let text = limits.current.map { "\($0)" } ?? "any number of"
    let maximum = limits.maximum.map { "\($0)" } ?? "any number"
    let values = ["current": limits.current, "maximum": limits.maximum].compactMapValues { $0.map { "\($0)" } }
    let message = "\(text) open files, which a run raises to \(maximum)"
    guard let count = limits.maximum, count < Self.enough else { return [.ok("descriptors", message, values)] }
    let remedy = "Raise the limit (ulimit -Hn, LimitNOFILE of systemd, --ulimit of a container)."
    guard count < DescriptorLimit.others else {
      return [.warning("descriptors", "\(message): too few for many connections.", remedy: remedy, values)]
    }
    return [
      .problem("descriptors", "\(message); a run needs at least \(DescriptorLimit.others).", remedy: remedy, values)
    ]
  }
}
