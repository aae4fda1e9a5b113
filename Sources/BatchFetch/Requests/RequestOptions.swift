/// The settings of one request that differ from those of its pipeline. Those that are nil do not differ.
///
/// Requests for the same image with different options are served by the same cache entry, unless their rules for IP
/// addresses or their modifiers differ. But each set of options has its own decode, and its own download unless only
/// the cache mode differs.
///
/// ```swift
/// var request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
/// request.options.cacheMode = .refresh
/// request.options.retry = RetryPolicy(limit: 0)
/// ```
public struct RequestOptions: Hashable, Sendable {
  /// Decides when a cached entry is served. Default nil: ``ThumbnailPipeline/Configuration/cacheMode``.
  public var cacheMode: CacheMode?
  /// The deadlines and limits of one attempt, except the rule for IP addresses. Default nil:
  /// ``Downloader/Configuration/limits``.
  public var limits: TransferLimits?
  /// The rule for IP addresses. A request with another one than that of the pipeline has a separate cache entry, which
  /// is not shared with other machines. Default nil: that of ``Downloader/Configuration/limits``.
  public var addresses: AddressPolicy?
  /// The policy for retries. Default nil: ``Downloader/Configuration/retry``.
  public var retry: RetryPolicy?
  /// The maximum number of pixels of the image, which holds when it is decoded: thumbnails in the cache are served
  /// whatever their source. Default nil: ``ThumbnailPipeline/Configuration/maxPixels``.
  public var maxPixels: Int?
  /// Changes the request before each of its attempts. Its ``RequestModifier/id`` is part of the key of the cache entry.
  /// Default nil: none.
  public var modifier: RequestModifier?

  /// Creates options that do not differ from the settings of a pipeline.
  public init() {}
}
