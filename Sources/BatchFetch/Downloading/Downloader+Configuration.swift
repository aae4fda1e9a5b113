public import Foundation
public import HTTPTypes

extension Downloader {
  /// How a downloader behaves.
  public struct Configuration: Sendable {
    /// Transfers at once, over all hosts: 1...65,536; what is outside counts as the nearest end. Default 16.
    public var concurrency = 16
    /// Downloads at once from one host: 1...65,536; what is outside counts as the nearest end. Default 6.
    ///
    /// A host that hangs holds so many transfers until their deadlines: below ``concurrency``, one such host never
    /// stops the others. Where several together hold all transfers, each that comes free goes to who waits longest,
    /// so that a host with much work has no more of them than one with little.
    public var perHost = 6
    /// The shortest time between two reports of a download's progress. Default 100 ms.
    public var progressInterval: Duration = .milliseconds(100)
    /// When failed attempts are made again.
    public var retry = RetryPolicy()
    /// How long and how far one attempt may go.
    public var limits = TransferLimits()
    /// The fields of every request. Default: `User-Agent: thumbs/VERSION`, and an `Accept` of what is decoded.
    public var headerFields: HTTPFields = [
      .userAgent: "thumbs/\(version)", .accept: "image/jpeg, image/png, */*;q=0.1",
    ]
    /// Permission to read URLs of the scheme `file`. Without it, they fail with `blocked_scheme`; with it,
    /// ``FileTransport`` reads them, because the transport of the downloader is for the network. Default
    /// ``FileAccess/refused``.
    public var files = FileAccess.refused
    /// The clock of pauses and of progress. Default: the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The wall clock, for dates of the protocol.
    public var now: @Sendable () -> Date = { Date() }

    static let counts = 1...65_536

    /// The defaults.
    public init() {}
  }

  /// The version in the user agent and of the command.
  public static let version = "0.1.0"
}
