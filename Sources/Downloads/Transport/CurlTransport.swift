internal import Foundation
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
    guard source.scheme != .file else { return "" }
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
    guard request.headerFields[.cookie] == nil, let cookies = configuration.cookies?.field(for: request.source) else {
      return request
    }
    var request = request
    request.headerFields[.cookie] = cookies
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
