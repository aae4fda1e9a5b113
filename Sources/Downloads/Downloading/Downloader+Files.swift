public import Foundation
internal import HTTPTypes

extension Downloader {
  /// Starts a download into a file, or joins the one in flight.
  ///
  /// The bytes are written to `NAME.part`, which is renamed when it is complete and checked; a file of that name is
  /// replaced. If the download or the process ends before, the next download of the same request to the same file
  /// continues where it was, as long as the content has not changed (`If-Range`, RFC 9110, section 13.1.5). After a
  /// crash of the system, it starts over.
  ///
  /// Unless ``DownloadRequest/limits`` says otherwise, a file may have any length and take any time, as long as it
  /// keeps coming. A status other than 200 fails with its code, such as `http_404`. Bytes are written on the thread
  /// that serves all transfers: use a separate downloader if the disk may be slower than the network.
  ///
  /// ```swift
  /// let token = downloader.download(request, to: file, expecting: ExpectedFile(digest: digest)) {
  ///   print($0.map { $0.file?.length })
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download. Its inspection is not used, and of ``DownloadRequest/responses`` only
  ///     ``ResponseRules/maxErrorBytes``.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``.
  ///   - queue: where the closures are called, one at a time. Default: a queue of the downloader.
  ///   - progress: receives progress, never after `completion` was called.
  ///   - completion: called exactly once. ``Download/file`` is the file, and
  ///     ``Download/body`` is empty. Fails with `hash_mismatch` if the content is not the expected one, `output_failed`
  ///     or `output_unavailable` if the file cannot be written, and `output_conflict` if another download writes it.
  @discardableResult
  public func download(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    after dependencies: [DownloadToken] = [], on queue: DispatchQueue? = nil,
    progress: DownloadProgress.Handler? = nil, completion: @escaping Completion
  ) -> DownloadToken {
    let caller = makeCaller(on: queue, progress: progress, completion: completion)
    start(request, to: file, expecting: expected, after: dependencies, for: caller)
    return DownloadToken(caller: caller, downloader: self)
  }

  /// Downloads the bytes of `request` into a file, as ``download(_:to:expecting:after:on:progress:completion:)`` does.
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - dependencies: downloads to wait for. Default: none.
  ///   - progress: the stream that receives progress. It is finished when the download ends. Default nil: none.
  /// - Throws: the failure; `cancelled` if the task is canceled.
  public func download(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    after dependencies: [DownloadToken] = [], progress: AsyncStream<DownloadProgress>.Continuation? = nil
  ) async throws(FetchFailure) -> Download {
    defer { progress?.finish() }
    return try await CancellableCall.result { completion in
      WorkHandle(
        download(
          request, to: file, expecting: expected, after: dependencies, progress: progress.handler,
          completion: completion))
    }.get()
  }

  private func start(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile, after dependencies: [DownloadToken],
    for caller: DownloadCaller
  ) {
    var (ready, milestones) = request.withoutMilestones()
    ready.inspection = nil
    ready.responses = ready.responses.forFiles
    // Part of the identity of the part file, and not that of the configuration, which may be meant for images.
    ready.headerFields = ready.headerFields.accepting(ready.accept)
    let target = context.target(of: ready, file.standardizedFileURL.path(percentEncoded: false), expected)
    caller.enter(context, priority: request.priority)
    defer { if let timeout = request.timeout { caller.limitTime(to: timeout, in: context) } }
    let demand = Demand(priority: request.priority)
    // Opening a file may wait for the disk. One is opened at a time, so that downloads begin in the order of the calls.
    wait(caller, for: milestones + dependencies.map(\.finished), demand: demand, on: context.opening) {
      [ready, context] () throws(FetchFailure) in
      var request = ready
      request.part = try context.parts.file(target)
      return request
    }
  }
}
