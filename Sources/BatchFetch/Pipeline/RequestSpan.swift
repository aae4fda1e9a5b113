#if Tracing
  internal import Downloads
  internal import Tracing

  /// The span of a request, with the attributes of OpenTelemetry and those of a report.
  ///
  /// Its context is not sent to the servers of images, which belong to others.
  struct RequestSpan {
    private let span: any Span

    /// Begins a span within that of the task.
    init(of request: ThumbnailRequest) {
      span = startSpan("thumbs.thumbnails", ofKind: .client)
      span.attributes["url.full"] = Redaction.url(request.url)
    }

    func end(with outcome: Result<ThumbnailSet, FetchFailure>) {
      switch outcome {
      case .success(let set): add(set)
      case .failure(let failure): add(failure)
      }
      span.end()
    }

    private func add(_ set: ThumbnailSet) {
      span.attributes["thumbs.origin"] = set.origin.rawValue
      span.attributes["thumbs.attempts"] = set.attempts
      span.attributes["thumbs.source.bytes"] = set.sourceBytes
      span.attributes["thumbs.queued_seconds"] = set.timings.queued / .seconds(1)
      span.attributes["thumbs.download_seconds"] = set.timings.download / .seconds(1)
      span.attributes["thumbs.render_seconds"] = set.timings.render / .seconds(1)
      span.attributes["http.response.status_code"] = set.httpStatus
    }

    private func add(_ failure: FetchFailure) {
      span.attributes["error.type"] = "\(failure.code)"
      span.attributes["thumbs.attempts"] = failure.attempts
      span.attributes["http.response.status_code"] = failure.httpStatus
      span.setStatus(SpanStatus(code: .error, message: failure.message))
      span.recordError(failure)
    }
  }
#else
  /// Does nothing in a build without the trait `Tracing`.
  struct RequestSpan {
    init(of request: ThumbnailRequest) {}
    func end(with outcome: Result<ThumbnailSet, FetchFailure>) {}
  }
#endif
