import ArgumentParser
import BatchFetch
import ImageCache

/// Checks whether the cache directory can be used.
struct CacheCheck: DoctorCheck {
  private static let elsewhere = "choose another directory with --cache-dir or THUMBS_CACHE_DIR"

  /// The condition of the directory; nil if no directory is known.
  var condition: CacheCondition?
  /// The hits that the last runs lost; nil without any.
  var shortage: CacheShortage?

  var findings: [Finding] {
    guard let condition else {
      return [
        .warning(
          "cache", "There is no home directory, so nothing is cached.",
          remedy: "Set HOME, or \(Self.elsewhere).")
      ]
    }
    return [fault(of: condition) ?? .ok("cache", Self.message(condition), Self.values(condition))]
  }

  /// Returns the first reason why the cache cannot be used, or not at once; nil if it can.
  private func fault(of condition: CacheCondition) -> Finding? {
    if let fault = placeFault(of: condition) { return fault }
    if case .unreadable(let error) = condition.contents {
      return problem(condition, error.message, Self.remedy(for: error.code))
    }
    return lockFault(of: condition) ?? shortage(of: condition) ?? lostHits(in: condition)
  }

  /// Returns the reason why no cache can be in this place; nil if one can.
  private func placeFault(of condition: CacheCondition) -> Finding? {
    let path = condition.directory
    if let obstacle = condition.obstacle {
      return problem(
        condition, "\(obstacle) is not a directory, so nothing is cached.",
        "Move it away so that \(path) can be created, or \(Self.elsewhere).")
    }
    if let owner = condition.owner, owner != condition.user {
      return problem(
        condition, "\(path) belongs to user \(owner), not to \(condition.user), so nothing is cached.",
        "Change its owner (chown -R \(condition.user) \(path)), or \(Self.elsewhere).")
    }
    if let fault = condition.fileSystem.flatMap({ fileSystemFault(of: condition, $0) }) { return fault }
    guard condition.fileSystem?.isReadOnly ?? false || !condition.isWritable else { return nil }
    return problem(
      condition, "\(path) cannot be written, so nothing is cached.", "Make it writable, or \(Self.elsewhere).")
  }

  private func fileSystemFault(of condition: CacheCondition, _ fileSystem: FileSystem) -> Finding? {
    let place = "\(condition.directory) is on \(fileSystem.name)"
    return switch fileSystem.kind {
    case .local: nil
    case .remote:
      problem(
        condition, "\(place), where a shared cache is not safe, so images are cached in memory only, during a run.",
        "Use a local disk: \(Self.elsewhere).")
    case .virtual:
      problem(
        condition, "\(place), where no files can be created, so nothing is cached.", "Use a disk: \(Self.elsewhere).")
    }
  }

  private func problem(_ condition: CacheCondition, _ message: String, _ remedy: String) -> Finding {
    .problem("cache", message, remedy: remedy, Self.values(condition))
  }

  private func shortage(of condition: CacheCondition) -> Finding? {
    guard let fileSystem = condition.fileSystem, fileSystem.isShort else { return nil }
    return .warning(
      "cache",
      "Only \(CacheText.size(fileSystem.availableBytes)) are free at \(condition.directory); the cache grows "
        + "no further.", remedy: "Free some space, or \(Self.elsewhere).", Self.values(condition))
  }

  /// Returns a warning if the last runs lost a tenth of their hits because the limit is low.
  private func lostHits(in condition: CacheCondition) -> Finding? {
    guard let shortage, shortage.lostPart >= 0.1 else { return nil }
    return .warning(
      "cache", shortage.sentence, remedy: "Run \(shortage.remedy).", Self.values(condition))
  }

  private func lockFault(of condition: CacheCondition) -> Finding? {
    switch condition.lock {
    case .missing, .free: nil
    case .held:
      .warning(
        "cache", "Another process holds the lock of \(condition.directory).",
        remedy: "Repeat the check. If the lock stays, end the process (fuser \(condition.directory)/lock shows it).",
        Self.values(condition))
    case .unusable(let reason):
      .problem(
        "cache", "The lock of \(condition.directory) cannot be used: \(reason).",
        remedy: "Make the file lock writable for its owner, or \(Self.elsewhere).", Self.values(condition))
    }
  }

  private static func remedy(for code: DiskCacheError.Code) -> String {
    switch code {
    case .corrupt, .noCache, .io: "Run thumbs cache verify --repair."
    case .newerSchema: "Use a version of thumbs at least as new as the one that made the cache."
    case .networkFileSystem: "Use a local disk: \(elsewhere)."
    case .busy: "Repeat the check when the other process has ended."
    case .diskFull: "Free some space, or \(elsewhere)."
    }
  }

  private static func message(_ condition: CacheCondition) -> String {
    let place = "\(condition.directory) (\(condition.fileSystem?.name ?? "unknown file system"))"
    guard case .cache(let statistics) = condition.contents else { return "\(place): not yet created by a run" }
    let limit = statistics.storedLimit.map(CacheText.size) ?? "2.00 GiB by default"
    let size = CacheText.size(statistics.usedBytes)
    return
      "\(place): generation \(statistics.generation), \(size) of \(limit), \(CacheText.sources(statistics.sources))"
  }

  private static func values(_ condition: CacheCondition) -> [String: String] {
    var values = ["directory": condition.directory, "user": "\(condition.user)", "lock": "\(condition.lock)"]
    values["owner"] = condition.owner.map { "\($0)" }
    values["fileSystem"] = condition.fileSystem?.name
    values["availableBytes"] = condition.fileSystem.map { "\($0.availableBytes)" }
    guard case .cache(let statistics) = condition.contents else { return values }
    values["generation"] = "\(statistics.generation)"
    values["usedBytes"] = "\(statistics.usedBytes)"
    values["limitBytes"] = statistics.storedLimit.map { "\($0)" }
    return values
  }
}

/// Checks the free space of the working directory, where thumbnails are written by default.
struct SpaceCheck: DoctorCheck {
  /// The space below which a run soon fails.
  static let least = 64 << 20

  /// The path of the directory.
  var path: String
  /// The file system of the directory; nil if it cannot be examined.
  var fileSystem: FileSystem?

  var findings: [Finding] {
    guard let fileSystem else {
      return [.problem("space", "The working directory is gone.", remedy: "Change to another directory.")]
    }
    let sizes = "\(CacheText.size(fileSystem.availableBytes)) of \(CacheText.size(fileSystem.totalBytes))"
    let values = ["availableBytes": "\(fileSystem.availableBytes)", "totalBytes": "\(fileSystem.totalBytes)"]
    let message = "\(sizes) free in the working directory (\(fileSystem.name))"
    if fileSystem.isReadOnly {
      return [.warning("space", "\(message), which is read-only.", remedy: "Name an output directory with -o.", values)]
    }
    let remedy = "Free some space, or name an output directory with -o."
    if fileSystem.availableBytes < Self.least {
      return [.problem("space", "\(message): too little for a run.", remedy: remedy, values)]
    }
    if fileSystem.isShort {
      return [.warning("space", "\(message): little for a long run.", remedy: remedy, values)]
    }
    return [.ok("space", message, values)]
  }
}

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
      let run = try Thumbs.parseCall(Configuration.merge(call, environment: environment)) as? any DownloadingCommand
      guard let cache = try run?.remoteCache(environment) else {
        self = .none
        return
      }
      self = cache.check().map { .unusable(url: cache.url, reason: $0) } ?? .usable(url: cache.url)
    } catch {
      self = .invalid(Redaction.message((error as? ValidationError)?.message ?? Thumbs.message(for: error)))
    }
  }
}
