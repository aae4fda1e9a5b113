import CDecodeChannel

extension DecodeHello {
  /// The formats that the program decodes.
  var sourceFormats: [SourceFormat] { IsolatedFormat.all.filter(has).map(\.format) }

  /// The names and versions of the libraries.
  var libraryNames: [String] {
    String.text(inArray: libraries).split(separator: "\n").map { DecodeText.clean(String($0)) }
  }

  /// The names of the protections that hold.
  var protectionNames: [String] {
    Self.names.compactMap { protection, name in protections & protection.rawValue == 0 ? nil : name }
  }

  /// Returns true if the program was built with the library for `format`.
  func has(_ format: IsolatedFormat) -> Bool { formats & 1 << format.id.rawValue != 0 }

  /// Returns true if the program can encode thumbnails in `format`.
  func encodes(_ format: IsolatedFormat) -> Bool { encoders & 1 << format.id.rawValue != 0 }

  private static let names = [
    (DecodeProtectionNoNewPrivileges, "no new privileges"), (DecodeProtectionLandlock, "Landlock"),
    (DecodeProtectionSystemCalls, "seccomp"), (DecodeProtectionNamespaces, "namespaces"),
    (DecodeProtectionLimits, "resource limits"),
  ]
}
