import ImageCache

/// Checks whether there is enough memory to decode images.
struct MemoryCheck: DoctorCheck {
  /// The memory with which a run on some processors decodes large images side by side.
  static let enough = 512 << 20
  /// The memory below which even single photos fail.
  static let least = 96 << 20

  var limits: MemoryLimits

  var findings: [Finding] {
    let named = [("machine", limits.machine), ("group", limits.group), ("addressSpace", limits.addressSpace)]
    let known = named.compactMap { name, bytes in bytes.map { (name, $0) } }
    let values = Dictionary(uniqueKeysWithValues: known.map { ($0, "\($1)") })
    let labels = ["machine": "machine", "group": "control group", "addressSpace": "address space"]
    let text = known.map { "\(labels[$0] ?? $0) \(CacheText.size($1))" }.joined(separator: ", ")
    guard let smallest = limits.smallest else { return [.ok("memory", "unknown")] }
    let remedy = "Raise the limit (memory.max, --memory of a container, ulimit -v), or use --render-threads 1."
    if smallest < Self.least {
      return [.problem("memory", "\(text): too little to decode photos.", remedy: remedy, values)]
    }
    if smallest < Self.enough {
      return [.warning("memory", "\(text): large images may fail.", remedy: remedy, values)]
    }
    return [.ok("memory", text, values)]
  }
}
