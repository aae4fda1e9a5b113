import ArgumentParser
import BatchFetch

/// Checks whether the cache that several machines share can be read.
struct RemoteCacheCheck: DoctorCheck {
  /// The state of the cache.
  enum Condition: Hashable, Sendable {
    /// No remote cache is set.
    case none
    /// The settings have an error, with which no run starts.
    case invalid(String)
    /// The server at `url` responds as expected.
    case usable(url: String)
    /// Lookups at the server at `url` fail. A run does without them.
    case unusable(url: String, reason: String)
  }

  var condition: Condition

  var findings: [Finding] {
    let name = "remote-cache"
    switch condition {
    case .none: return [.ok(name, "none")]
    case .usable(let url): return [.ok(name, "\(url): responds", ["url": url])]
    case .invalid(let reason):
      return [.problem(name, reason, remedy: "Correct the setting, in the environment or the configuration file.")]
    case .unusable(let url, let reason):
      return [
        .warning(
          name, "\(url) is not used: \(reason)",
          remedy: "Check the URL, the server and the credentials; S3 must permit s3:GetObject and s3:ListBucket.",
          ["url": url])
      ]
    }
  }
}

extension RemoteCacheCheck.Condition {
  /// Requests an object from the remote cache that a run would use, if there is one.
  ///
  /// - Parameters:
  ///   - isConfigured: True if a run reads the configuration file, which is valid.
  ///   - environment: The environment variables of the process.
  init(isConfigured: Bool, environment: [String: String]) {
    do {
      let call = ["fetch", "-"] + (isConfigured ? [] : ["--no-config"])
      let run = try Thumbs.parseAsRoot(Configuration.merge(call, environment: environment)) as? any DownloadingCommand
      let netrc = run?.network.netrcPath(environment)
      guard let cache = try run?.caching.remote.cache(netrc: netrc, environment: environment) else {
        self = .none
        return
      }
      self = cache.check().map { .unusable(url: cache.url, reason: $0) } ?? .usable(url: cache.url)
    } catch {
      self = .invalid(Redaction.message((error as? ValidationError)?.message ?? Thumbs.message(for: error)))
    }
  }
}
