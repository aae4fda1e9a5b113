import Glibc

/// The configuration file of the user: defaults for the options, under the same names.
///
///     concurrency = 8
///     size = [64, 128]
///     header = ["Authorization: Bearer ${API_TOKEN}"]
///
///     [cache]
///     format = "json"
struct ConfigurationFile: Sendable {
  /// The maximum length of the file in bytes.
  private static let longest = 1 << 20

  /// The path of the file.
  let path: String
  /// The keys of the file with their values.
  let settings: [ConfigurationSetting]

  /// Reads the file that `environment` names; nil if there is none.
  init?(environment: [String: String]) throws(ConfigurationError) {
    guard let path = Self.path(environment) else { return nil }
    try self.init(path: path)
  }

  /// Returns the path of the file that `environment` names; nil if there is none.
  ///
  /// That is the file of `THUMBS_CONFIG`, which must exist, or none if that is empty or `/dev/null`. Without that
  /// variable, it is `thumbs/config.toml` in `XDG_CONFIG_HOME`, or else in `~/.config`.
  static func path(_ environment: [String: String]) -> String? {
    if let path = environment["THUMBS_CONFIG"] { return ["", "/dev/null"].contains(path) ? nil : path }
    guard let path = standardPath(environment), access(path, F_OK) == 0 else { return nil }
    return path
  }

  /// Reads the file at `path`.
  init(path: String) throws(ConfigurationError) {
    self.path = path
    do {
      try Self.checkOwner(path)
      guard let bytes = try ByteSource.openRegularFile(path, expecting: "a TOML file").bytes(limit: Self.longest) else {
        throw ConfigurationError(path: path, reason: "is longer than \(ByteSize(count: Self.longest))")
      }
      settings = try ConfigurationSetting.all(in: bytes)
    } catch let error as ConfigurationError {
      throw error
    } catch let error as ManifestError {
      throw ConfigurationError(path: path, reason: error.reason)
    } catch let flaw as TOMLFlaw {
      throw ConfigurationError(path: path, line: flaw.line, reason: flaw.reason)
    } catch {
      throw ConfigurationError(path: path, reason: "\(error)")
    }
  }

  /// An XDG directory that is not absolute is ignored, as its specification says.
  private static func standardPath(_ environment: [String: String]) -> String? {
    let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (base ?? environment["HOME"].map { $0 + "/.config" }).map { $0 + "/thumbs/config.toml" }
  }

  /// Throws if another user owns the file or may write to it: its settings decide where requests and credentials go,
  /// and which files are written. Anything but a regular file is refused when it is opened.
  private static func checkOwner(_ path: String) throws(ConfigurationError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw ConfigurationError(path: path, reason: "belongs to another user; use --no-config, or a file of your own")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw ConfigurationError(path: path, reason: "other users may write to it; run: chmod go-w \(path)")
    }
  }
}
