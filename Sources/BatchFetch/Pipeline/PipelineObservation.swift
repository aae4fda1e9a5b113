internal import CoreMetrics
internal import Downloads
internal import Synchronization

#if Tracing
  internal import Tracing
#endif

// MARK: Metrics

/// The metrics of a pipeline. The handles are made once, because making one may take a lock.
struct PipelineMetrics: Sendable {
  private let queueTime: CoreMetrics.Timer
  private let renderTime: CoreMetrics.Timer
  private let renders: Counter
  private let inFlight: Gauge
  private let lookupDepth, transferDepth, renderDepth: Gauge

  init(_ factory: any MetricsFactory) {
    queueTime = CoreMetrics.Timer(label: "thumbs_queue_seconds", preferredDisplayUnit: .seconds, factory: factory)
    renderTime = CoreMetrics.Timer(label: "thumbs_render_seconds", preferredDisplayUnit: .seconds, factory: factory)
    renders = Counter(label: "thumbs_renders_total", factory: factory)
    inFlight = Gauge(label: "thumbs_images_in_flight", factory: factory)
    func depth(_ queue: String) -> Gauge {
      Gauge(label: "thumbs_queue_depth", dimensions: [("queue", queue)], factory: factory)
    }
    (lookupDepth, transferDepth, renderDepth) = (depth("lookup"), depth("transfer"), depth("render"))
  }

  /// Counts an image that was served without a decode.
  func served(_ timings: Timings) { queueTime.record(timings.queued) }

  /// Counts an image that was decoded.
  func rendered(_ timings: Timings) {
    queueTime.record(timings.queued)
    renderTime.record(timings.render)
    renders.increment()
  }

  /// Sets the gauges to what `context` has in flight and in its queues.
  func update(from context: ThumbnailContext) {
    inFlight.record(context.jobs.withLock { $0.count })
    lookupDepth.record(context.lookUps.waitingCount)
    transferDepth.record(context.downloader.context.queue.ticketCount)
    renderDepth.record(context.renders.waitingCount)
  }
}

extension ThumbnailPipeline {
  /// Sets the gauges (the queue depths and the sizes of the cache) to their current values, which cost too much to
  /// follow at every change. Call it before each export of the metrics. It may block on the disk.
  public func updateGauges() {
    context.metrics.update(from: context)
    cache.updateGauges()
  }
}

// MARK: Spans

#if Tracing
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
