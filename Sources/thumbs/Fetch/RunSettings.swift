import BatchFetch

/// The settings of a run that are decided before its files are opened.
struct RunSettings: Sendable {
  /// The start of the run. Its duration and its time limit count from here.
  let started: ContinuousClock.Instant
  /// The rules of `--hosts`.
  let hosts: HostRules
  /// The maximum number of connections.
  let connections: Int
  /// The header fields and cookies to send.
  let credentials: Credentials
  /// The cache that several machines share; nil for none.
  let remoteCache: RemoteCache?

  /// Returns the time that the run waits for uploads if it ends at `now`: a tenth of its duration, but no less than two
  /// timeouts of the remote cache.
  func uploadTime(at now: ContinuousClock.Instant) -> Duration {
    max((remoteCache?.readTimeout ?? .zero) * 2, started.duration(to: now) / 10)
  }
}
