/// Lists the image formats of this build.
struct FormatCheck: DoctorCheck {
  /// The formats that can be decoded.
  var sources: [String]
  /// The formats that can be written.
  var outputs: [String]

  var findings: [Finding] {
    let (sources, outputs) = (sources.sorted().joined(separator: " "), outputs.sorted().joined(separator: " "))
    let message = "in: \(sources); out: \(outputs)"
    let values = ["in": sources, "out": outputs]
    guard self.sources.contains("webp") else {
      let remedy = "Build with the package trait WebP, which is on by default."
      return [.warning("formats", message + "; WebP is missing", remedy: remedy, values)]
    }
    return [.ok("formats", message, values)]
  }
}
