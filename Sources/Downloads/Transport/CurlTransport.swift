import CCurl
internal import Foundation
internal import Glibc
internal import HTTPTypes

/// An HTTP transport on libcurl. One event loop on one thread runs any number of transfers, keeps connections open for
/// reuse, and multiplexes transfers over HTTP/2 if an https server supports it.
///
/// With a proxy, the proxy connects to an address that this machine does not see. The address policy therefore checks
/// the target before the proxy gets the request: an IP address in the URL and the names of metadata services always,
/// and with any policy but ``AddressPolicy/noLinkLocal`` the addresses that the name resolves to on this machine. A
/// name that only the proxy can resolve is not checked, except by an ``AddressPredicate``. The policy
/// ``AddressPolicy/noLinkLocal`` resolves no names, because a request over a proxy should not show up at the name
/// servers of this network.
public final class CurlTransport: Transport {
  private let loop: CurlEventLoop
  private let names: NameService
  private let configuration: Configuration
  private let netrc: NetrcFile?
  /// A hash of the file with the certificate authorities; nil for those of the system.
  private let authorities: String?

  /// Creates a transport with its own thread, which ends with the last reference to the transport.
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, resolve: HostResolution.system)
  }

  /// - Parameters:
  ///   - resolve: resolves a host name. It may block, and is called on threads that are made for that.
  ///   - now: the clock for the expiry of addresses.
  init(
    _ configuration: Configuration, resolve: @escaping @Sendable (String) -> HostResolution,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    let names = NameService(resolve: resolve, now: now)
    let loop = CurlEventLoop(configuration, names: names)
    self.loop = loop
    self.names = names
    self.configuration = configuration
    netrc = configuration.netrc.flatMap { NetrcFile(at: $0) }
    authorities = configuration.certificateAuthorities.map { path in
      let bytes = FileManager.default.contents(atPath: path) ?? Data()
      return BodyDigest(of: Array(bytes)).description
    }
    let thread = Thread { loop.run() }
    thread.name = "thumbs-transport"
    thread.start()
  }

  deinit { loop.post(.stop) }

  /// Returns the entry of ``Configuration/insecureHosts`` for the host, and hashes of its entries in the
  /// ``Configuration/netrc`` file, of its ``Configuration/cookies`` and of the file with the
  /// ``Configuration/certificateAuthorities``.
  ///
  /// The files are read once, when the transport is created, so later changes do not change the keys of this transport.
  /// Redirects need no part in the variant: other hosts get no credentials from the `.netrc` file, and
  /// ``trusts(_:as:)`` is false for a host with other cookies or an unverified certificate.
  public func variant(of source: SourceURL) -> String {
    guard !source.scheme.isLocal else { return "" }
    let insecure = configuration.insecureHost(of: source).map { "insecure \($0)" }
    let credentials = netrc?.digest(for: source.hostName).map { "netrc \($0)" }
    let cookies = configuration.cookies?.digest(for: source).map { "cookies \($0)" }
    let trust = authorities.map { "authorities \($0)" }
    return [insecure, credentials, cookies, trust].compactMap { $0 }.joined(separator: ", ")
  }

  /// Returns true if a redirect from `source` to `hop` does not lower the trust in the response: the certificate of
  /// `hop` is verified, or the same entry of ``Configuration/insecureHosts`` applies to both.
  public func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool { configuration.trusts(hop, as: source) }

  /// Resolves the host name, unless its addresses are known or only a proxy needs them.
  ///
  /// - Parameters:
  ///   - source: the URL whose host name is resolved.
  ///   - limits: a lookup that takes longer than ``TransferLimits/connect`` is `dns_temporary`.
  ///   - completion: called with `dns_not_found` or `dns_temporary` if the host has no IP address.
  public func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    guard let host = nameToLookUp(of: source, limits) else { return completion(nil) }
    let isProxied = configuration.proxies.proxy(for: source) != nil
    names.resolve(host, within: limits.connect.clamped(to: .waiting)) { resolution in
      // A name that does not exist here may exist for the proxy.
      completion(isProxied && resolution == .notFound ? nil : resolution.failure(of: host))
    }
  }

  /// Returns true if the host needs no lookup, or its addresses are known.
  public func isPrepared(for source: SourceURL, limits: TransferLimits) -> Bool {
    nameToLookUp(of: source, limits).map { names.knows($0) } ?? true
  }

  private func nameToLookUp(of source: SourceURL, _ limits: TransferLimits) -> String? {
    guard let host = source.nameToLookUp else { return nil }
    return configuration.proxies.proxy(for: source) == nil || limits.addresses.needsAddresses ? host : nil
  }

  /// Posts the transfer to the event loop.
  public func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let handle = CurlTransferHandle(loop: loop)
    loop.post(.start(handle.id, addingCookies(to: request), receiver))
    return handle
  }

  private func addingCookies(to request: TransferRequest) -> TransferRequest {
    let field = request.headerFields[.cookie] ?? configuration.cookies?.field(for: request.source)
    var request = request
    request.headerFields[.cookie] = request.cookies.map { ChainCookies.merge(field, with: $0) } ?? field
    return request
  }
}

/// A caller's handle for a transfer: its number, and the event loop that runs it.
private struct CurlTransferHandle: Transfer {
  let loop: CurlEventLoop
  let id: CurlEventLoop.TransferID

  init(loop: CurlEventLoop) {
    self.loop = loop
    self.id = loop.makeID()
  }

  func cancel() { loop.post(.cancel(id)) }
}

// MARK: Configuration

extension CurlTransport {
  /// The settings of a transport: certificates, credentials, proxies and connections.
  public struct Configuration: Sendable {
    /// Hosts whose certificates are not verified, in the form of ``SourceURL/host``. An entry without a port applies to
    /// every port of the host. Redirects to these hosts are included. Default: none.
    public var insecureHosts: Set<String> = []
    /// The path of a PEM file with certificate authorities to trust instead of the system's. Its content is part of the
    /// cache key. Default nil: the system's.
    public var certificateAuthorities: String?
    /// The path of the PEM file with the certificate authorities of the system, which is no part of the cache key.
    /// Default nil: the authorities that libcurl was built for. On other systems, ``CertificateBundle`` finds the file.
    public var systemAuthorities: String?
    /// The path of a `.netrc` file with credentials per host, for URLs without credentials. Redirects to other hosts
    /// get none of them. As in curl, an entry is for all ports of its host, and is sent over http, too. Default nil: no
    /// file is read.
    public var netrc: String?
    /// The cookies to send. Each is sent only to the hosts and paths that it is for, redirects included. A request
    /// that has a `Cookie` field gets no others. Default nil: none.
    public var cookies: CookieFile?
    /// The proxies. Default: the proxies that the environment of the process names.
    public var proxies = ProxySettings(environment: ProcessInfo.processInfo.environment)
    /// The maximum number of open connections, including those in use; above it, the oldest idle one is closed. Should
    /// be at least the number of concurrent transfers. Default 256, range 1 to 1,000,000; a value outside counts as the
    /// nearest bound.
    ///
    /// There is no limit per host here, because transfers that libcurl holds back would use up their timeouts. The
    /// caller limits them.
    public var maxConnections = 256

    /// Creates a configuration with the defaults.
    public init() {}

    /// Returns true if the certificate of `source` is not verified.
    func isInsecure(_ source: SourceURL) -> Bool { insecureHost(of: source) != nil }

    /// Returns the entry of ``insecureHosts`` that applies to `source`, preferably one without a port; nil if there is
    /// no such entry.
    func insecureHost(of source: SourceURL) -> String? {
      guard !insecureHosts.isEmpty else { return nil }
      let withoutPort = source.host.hasPrefix("[") ? "[\(source.hostName)]" : source.hostName
      return [withoutPort, source.host].first { insecureHosts.contains($0) }
    }

    /// Returns true if a redirect from `source` to `hop` does not lower the trust in the response: the certificate of
    /// `hop` is verified, or the same entry of ``insecureHosts`` applies to both; and `hop` gets no other ``cookies``.
    /// Without TLS there is nothing to verify.
    func trusts(_ hop: SourceURL, as source: SourceURL) -> Bool {
      if let digest = cookies?.digest(for: hop), digest != cookies?.digest(for: source) { return false }
      guard hop.scheme == .https, let host = insecureHost(of: hop) else { return true }
      return host == insecureHost(of: source)
    }
  }
}

// MARK: Libraries

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

/// The PEM file with the certificate authorities that this system trusts.
///
/// Each libcurl knows the file of the distribution that it was built for. A program that runs on other distributions
/// finds theirs with ``find(environment:root:)``:
///
/// ```swift
/// configuration.systemAuthorities = CertificateBundle.find(environment: environment)
/// ```
public enum CertificateBundle {
  /// The environment variables that name the file, in order of precedence: those of curl, OpenSSL and Nix.
  static let variables = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "NIX_SSL_CERT_FILE"]

  /// The paths of the file on distributions, in order of precedence.
  static let paths = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch, NixOS
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora up to 42, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  // openSUSE
    "/etc/ssl/cert.pem",  // Alpine without ca-certificates
    "/etc/ssl/certs/ca-bundle.crt",  // Nix on other distributions
    "/nix/var/nix/profiles/default/etc/ssl/certs/ca-bundle.crt",
  ]

  /// Returns the path of the file; nil if no variable names it and it is at none of the known paths.
  ///
  /// A file that a variable names counts even if it does not exist: a user who limits the trusted authorities must not
  /// get more of them because of a misspelled name.
  ///
  /// - Parameters:
  ///   - environment: The environment variables of the process.
  ///   - root: The directory that the known paths are below. Default: the root directory.
  public static func find(environment: [String: String], root: String = "") -> String? {
    if let name = variable(environment: environment) { return environment[name] }
    return paths.lazy.map { root + $0 }.first { access($0, R_OK) == 0 }
  }

  /// Returns the name of the variable that names the file; nil if none is set, and ``find(environment:root:)`` tries
  /// the known paths.
  ///
  /// - Parameter environment: The environment variables of the process.
  public static func variable(environment: [String: String]) -> String? {
    variables.first { environment[$0]?.isEmpty == false }
  }
}
