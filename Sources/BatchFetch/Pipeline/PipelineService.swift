#if ServiceLifecycle
  public import ServiceLifecycle

  /// A pipeline as one of the services of a program, with the trait `ServiceLifecycle`. `Examples/Service` has one.
  ///
  /// A group stops its services in reverse order. A server that waits for its requests comes before the pipeline, which
  /// then ends them.
  public struct PipelineService: Service {
    private let pipeline: ThumbnailPipeline
    private let limit: Duration

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - pipeline: the pipeline, whose requests fail with `cancelled` after its shutdown.
    ///   - limit: the time for requests in flight at a graceful shutdown. Default 10 s.
    public init(_ pipeline: ThumbnailPipeline, within limit: Duration = .seconds(10)) {
      self.pipeline = pipeline
      self.limit = limit
    }

    /// Returns when the pipeline has ended and what it stored is on disk: after a graceful shutdown, or when the task
    /// is canceled, which leaves requests in flight no time.
    public func run() async {
      try? await gracefulShutdown()
      await withTaskCancellationHandler {
        await pipeline.shutdown(within: limit)
      } onCancel: {
        pipeline.cancelAll()
      }
    }
  }
#endif
