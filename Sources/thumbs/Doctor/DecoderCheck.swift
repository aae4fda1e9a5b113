import ImageCache

/// Checks `thumbs-decode`, which decodes the formats that are not trusted.
struct DecoderCheck: DoctorCheck {
  private static let check = "decoders"

  /// The condition of the program on this machine.
  var condition: DecoderCondition

  var findings: [Finding] { [fault ?? .ok(Self.check, message, values)] }

  /// Returns the first reason why images of these formats fail; nil if they do not.
  private var fault: Finding? {
    guard let program = condition.program else {
      return warning(
        "thumbs-decode is not installed, so AVIF, HEIC, JPEG XL, SVG and TIFF cannot be decoded, and AVIF not written.",
        "Install the package thumbs-decoders if such images should have thumbnails.")
    }
    if let failure = condition.failure {
      return .problem(
        Self.check, "\(program) does not run: \(failure).", remedy: "Install the package thumbs-decoders again.", values
      )
    }
    guard condition.isProtected else {
      return .problem(
        Self.check, "\(message), which is not enough, so it refuses to decode.",
        remedy: protectionRemedy, values
      )
    }
    guard condition.missing.isEmpty else {
      let names = condition.missing.map(\.rawValue).joined(separator: ", ")
      return warning("\(message); without \(names)", "\(installation), and build thumbs-decode again.")
    }
    return nil
  }

  private var protectionRemedy: String {
    guard condition.missingPackages.contains("libseccomp-dev") else {
      return "Allow seccomp filters, or give --unsafe-decoders for images that you trust."
    }
    return "It was built without libseccomp. \(installation), and build thumbs-decode again."
  }

  private var installation: String { "Install \(condition.missingPackages.joined(separator: ", "))" }

  private func warning(_ message: String, _ remedy: String) -> Finding {
    .warning(Self.check, message, remedy: remedy, values)
  }

  private var message: String {
    let protections = condition.protections.joined(separator: ", ")
    return
      "\(condition.libraries.joined(separator: ", ")); protected by \(protections.isEmpty ? "nothing" : protections)"
  }

  private var values: [String: String] {
    var values = [
      "formats": condition.formats.map(\.rawValue).joined(separator: " "),
      "libraries": condition.libraries.joined(separator: ", "),
      "protections": condition.protections.joined(separator: ", "),
    ]
    values["program"] = condition.program
    return values
  }
}
