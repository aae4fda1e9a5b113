public import CoreMetrics
public import Foundation
public import HTTPTypes

extension Downloader {
  /// The settings of a downloader.
  public struct Configuration: Sendable {
    /// The maximum number of simultaneous transfers, over all hosts: 1...65,536; a value outside is clamped. Default
    /// 16.
    public var concurrency = 16
    /// The maximum number of simultaneous downloads per host: 1...65,536; a value outside is clamped. Default 6.
    ///
    /// A host that hangs occupies up to this many transfers until their deadlines. As long as the value is below
    /// ``concurrency``, one such host never stops the others. If several hosts occupy all transfers, each transfer that
    /// becomes free goes to the download that has waited longest: a host with many downloads gets no more than one with
    /// few.
    public var perHost = 6
    /// The maximum rate of requests per host. Every request counts, retries, redirects and revalidations included.
    /// Default nil: no limit.
    public var rate: RequestRate?
    /// Rules for single hosts and groups of hosts, which take precedence over these settings. Default: none.
    public var hosts = HostRules()
    /// The number of failures to connect to a host, temporary failures of its name lookup included, in a row and
    /// without any success, after which the host fails with `host_unavailable`; at least 1. Default 5. Nil: every
    /// request is tried.
    public var maxHostFailures: Int? = 5
    /// The treatment of `robots.txt` and `X-Robots-Tag`. Default ``RobotsPolicy/ignored``.
    public var robots = RobotsPolicy.ignored
    /// The shortest time between two progress reports of a download. Default 100 ms.
    public var progressInterval: Duration = .milliseconds(100)
    /// The policy for retries of failed attempts.
    public var retry = RetryPolicy()
    /// The deadlines and limits of one attempt.
    public var limits = TransferLimits()
    /// The header fields of every request. Default: `User-Agent: thumbs/VERSION`. Without an `Accept` field here, each
    /// request has that of ``DownloadRequest/accept``.
    public var headerFields: HTTPFields = [.userAgent: "thumbs/\(version)"]
    /// Permission to read `file` URLs. Without it, they fail with `blocked_scheme`; with it, ``FileTransport`` reads
    /// them instead of the downloader's own transport. Default ``FileAccess/refused``.
    public var files = FileAccess.refused
    /// The clock for pauses and progress intervals. Default: the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The receiver of the metrics of the downloader, and of whatever uses it. Default nil: the
    /// factory that the program has set with `MetricsSystem.bootstrap`; without one, metrics cost next to nothing.
    public var metrics: (any MetricsFactory)?
    /// The wall clock, for the dates in HTTP header fields.
    public var now: @Sendable () -> Date = { Date() }

    package static let counts = 1...65_536

    /// Creates the default settings.
    public init() {}
  }

  /// The version of the library and the command, as sent in `User-Agent`.
  public static let version = "0.1.0"
}
