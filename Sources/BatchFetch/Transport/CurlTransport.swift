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

  /// A transport with a thread of its own, which ends when the transport is let go.
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, resolve: HostResolution.system)
  }

  /// - Parameter resolve: the name service; may block, and is called on a queue where that does no harm.
  init(_ configuration: Configuration, resolve: @escaping @Sendable (String) -> HostResolution) {
    let loop = CurlEventLoop(configuration, resolve: resolve)
    self.loop = loop
    let thread = Thread { loop.run() }
    thread.name = "thumbs-transport"
    thread.start()
  }

  deinit { loop.post(.stop) }

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
