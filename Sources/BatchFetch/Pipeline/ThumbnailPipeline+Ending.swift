internal import Foundation
internal import Synchronization

// Waiting for the end of requests, and the end of the pipeline itself.
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
    // Writing waits for the disk, which a thread of Swift's pool must not do.
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        flush(uploadingWithin: uploads)
        continuation.resume()
      }
    }
  }
}
