import CCurl

extension CurlTransport {
  /// libcurl, and its TLS library if it has one, with the versions in use.
  public static var libraries: [LibraryVersion] {
    guard let info = ccurl_version_info()?.pointee else { return [] }
    let curl = LibraryVersion("libcurl", String(cString: info.version))
    return [curl] + (info.ssl_version.map { [tls(String(cString: $0))] } ?? [])
  }

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
