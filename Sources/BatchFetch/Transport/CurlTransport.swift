internal import Foundation

/// HTTP by libcurl: one thread with one event loop, any number of exchanges, connections kept and shared, HTTP/2 with
/// many exchanges on one connection where a server of https offers it.
///
/// Redirects are followed here, not by libcurl: each hop is judged like a first one. Another host gets no credentials
/// and none of the caller's own header fields, and nothing leads from https back to http.
///
/// Behind a proxy it is the proxy that connects, to an address this machine does not see. The address policy then
/// judges the target before the request is handed over: an address in the URL always, and with
/// ``AddressPolicy/publicOnly`` what its name resolves to here. A name that only the proxy can resolve is not judged.
public final class CurlTransport: Transport {
  private let loop: CurlEventLoop
  private let names: NameService
  private let configuration: Configuration
  private let netrc: NetrcFile?

  /// A transport with a thread of its own, which ends when the transport is let go.
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, resolve: HostResolution.system)
  }

  /// - Parameters:
  ///   - resolve: the name service; may block, and is called on a thread where that does no harm.
  ///   - now: the clock by which addresses expire.
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
    let thread = Thread { loop.run() }
    thread.name = "thumbs-transport"
    thread.start()
  }

  deinit { loop.post(.stop) }

  /// The entry of ``Configuration/insecureHosts`` about the host, and a hash of what ``Configuration/netrc`` says of it.
  ///
  /// The file is read once, when the transport is made: one that changes later changes no key of this transport. A
  /// redirect to another host gets no credentials of the file, and one to a host whose certificate is not checked, which
  /// this does not tell, gives an answer that is not cacheable.
  public func variant(of source: SourceURL) -> String {
    guard source.scheme != .file else { return "" }
    let insecure = configuration.insecureHost(of: source).map { "insecure \($0)" }
    let credentials = netrc?.digest(for: source.hostName).map { "netrc \($0)" }
    return [insecure, credentials].compactMap { $0 }.joined(separator: ", ")
  }

  /// Looks the name of the host up, unless it is known. A host behind a proxy is the proxy's to find.
  ///
  /// - Parameter completion: called with `dns_not_found` or `dns_temporary` where there is no address, the latter also
  ///   when that takes longer than ``TransferLimits/connect``.
  public func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    guard configuration.proxies.proxy(for: source) == nil, let host = source.nameToLookUp else {
      return completion(nil)
    }
    names.resolve(host, within: limits.inRange.connect) { completion($0.failure(of: host)) }
  }

  /// Hands the exchange to the event loop.
  public func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    let handle = CurlTransferHandle(loop: loop)
    loop.post(.start(handle.id, request, receiver))
    return handle
  }
}

/// What a caller holds of an exchange: its number, and the loop that knows it.
private struct CurlTransferHandle: Transfer {
  let loop: CurlEventLoop
  let id: CurlEventLoop.TransferID

  init(loop: CurlEventLoop) {
    self.loop = loop
    self.id = loop.makeID()
  }

  func cancel() { loop.post(.cancel(id)) }
}
