import CCurl

extension CurlTransport {
  /// libcurl, and its TLS library if it has one, with the versions in use.
  public static var libraries: [LibraryVersion] {
    guard let info = ccurl_version_info()?.pointee else { return [] }
    let curl = LibraryVersion("libcurl", String(cString: info.version))
    return [curl] + (info.ssl_version.map { [tls(String(cString: $0))] } ?? [])
  }

  /// The known faults of the libcurl in use that responses can reach.
  public static var libraryFaults: [LibraryFault] { faults(ofLibcurl: version) }

  /// - Parameter version: the number of a version as in `LIBCURL_VERSION_NUM`.
  package static func faults(ofLibcurl version: UInt32) -> [LibraryFault] {
    guard !canReuseHandles(ofLibcurl: version) else { return [] }
    let fault = LibraryFault(
      library: "libcurl", effect: "a response whose header begins with a folded line fails",
      remedy: "Use libcurl 8.1.1 or newer, as Debian 13 and the released command have it.")
    return [fault]
  }

  /// True if the libcurl in use can use a handle for another transfer.
  static let canReuseHandles = canReuseHandles(ofLibcurl: version)

  /// Before 8.1.1, a reset keeps the pointer to the last header field of the previous response. If the head of the next
  /// one begins with a folded line, libcurl writes to that field after it was freed (curl #11101).
  private static func canReuseHandles(ofLibcurl version: UInt32) -> Bool { version >= 0x08_01_01 }

  private static var version: UInt32 { ccurl_version_info()?.pointee.version_num ?? 0 }

  /// The certificate authorities that are trusted by default: the paths of a PEM file and of a directory, each nil if
  /// the build of libcurl has none.
  public static var standardAuthorities: (file: String?, directory: String?) {
    guard let info = ccurl_version_info()?.pointee else { return (nil, nil) }
    return (info.cainfo.map { String(cString: $0) }, info.capath.map { String(cString: $0) })
  }

  /// Parses the name and version of a library from text such as `OpenSSL/3.0.19`.
  private static func tls(_ text: String) -> LibraryVersion {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    return LibraryVersion(parts.first ?? text, parts.count == 2 ? parts[1] : "")
  }
}

/// A known fault of a library that concerns its users here.
public struct LibraryFault: Hashable, Sendable {
  /// The name of the library, as in ``CurlTransport/libraries``.
  public var library: String
  /// The effect, as the end of a sentence.
  public var effect: String
  /// A sentence that names the way out.
  public var remedy: String

  /// Creates a fault.
  public init(library: String, effect: String, remedy: String) {
    (self.library, self.effect, self.remedy) = (library, effect, remedy)
  }
}
