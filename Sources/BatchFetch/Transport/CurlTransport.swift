internal import Foundation

/// HTTP by libcurl: one thread with one event loop, any number of exchanges, connections kept and shared.
///
/// Proxies come from the environment (`http_proxy`, `https_proxy`, `no_proxy`). The address policy judges what is
/// connected to; behind a proxy that is the proxy.
public final class CurlTransport: Transport {
  private let loop = CurlEventLoop()

  /// A transport with a thread of its own, which ends when the transport is let go.
  public init() {
    let loop = loop
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
