internal import Foundation
internal import Synchronization

// Waiting for the end of requests and of writes, and the end of the pipeline itself.
extension ThumbnailPipeline {
  /// A group that is empty while no caller waits for a completion.
  public var group: CompletionGroup { CompletionGroup(context.group) }

  /// Returns when every request has ended and every completion has returned. A paused request has not ended.
  public func waitUntilFinished() async { await group.finished() }

  /// Ends the pipeline, for a service that stops: later requests fail with `cancelled`, those in flight get some time,
  /// and what was stored is written.
  ///
  /// ```swift
  /// await pipeline.shutdown(within: .seconds(5))
  /// ```
  ///
  /// - Parameters:
  ///   - limit: The time for requests in flight. Those that are left then are canceled, paused ones too. Default 10 s.
  ///   - uploads: The time for uploads to the remote cache after that. Default 2 s.
  public func shutdown(within limit: Duration = .seconds(10), uploadingWithin uploads: Duration = .seconds(2)) async {
    context.isShutDown.store(true, ordering: .releasing)
    let timer = context.after(limit) { [context] in context.cancelAll() }
    await waitUntilFinished()
    timer.cancel()
    await flush(uploadingWithin: uploads)
  }

  /// Returns when everything that was stored is on disk, and was uploaded to the remote cache if there is one. It does
  /// the same as the blocking method, and blocks no thread of Swift concurrency. Canceling the task does not end it.
  ///
  /// - Parameter limit: The maximum time to wait for uploads, as in the blocking method. Default 10 s.
  public func flush(uploadingWithin limit: Duration = .seconds(10)) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        // Without a context that can await, this is the blocking method.
        flush(uploadingWithin: limit)
        continuation.resume()
      }
    }
  }
}
