package import Downloads
package import TestSupport

/// A scripted transport that also records each download that has come to wait for a free connection.
///
/// A downloader calls `prepare` before each attempt. The attempt joins those that wait for a connection inside the call
/// of `completion`, so that a test which has seen the record can rely on its place among them.
package final class WaitingTransport: Transport {
  package let inner: ScriptedTransport
  /// The paths of the downloads that wait, or waited, for a connection.
  package let waiting = Recorder<String>()

  package init(_ script: @escaping ScriptedTransport.Script) { inner = ScriptedTransport(script) }

  package func prepare(
    for source: SourceURL, limits: TransferLimits, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    completion(nil)
    waiting.record(source.lastPathComponent)
  }

  package func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    inner.start(request, receiver: receiver)
  }
}
