internal import CoreMetrics
internal import ImageCache
internal import Synchronization

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
    inFlight.record(context.state.withLock { $0.jobs.count })
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
