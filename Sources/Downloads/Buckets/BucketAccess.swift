internal import Foundation

/// The access to buckets for `s3://` and `gs://` URLs: the server, and the key that signs the requests.
///
/// ```swift
/// var configuration = Downloader.Configuration()
/// var store = BucketAccess.Store(endpoint: "http://127.0.0.1:9000")
/// store.key = BucketAccess.Key(accessKey: "minio", secretKey: "minio-secret")
/// configuration.buckets = BucketAccess(s3: store)
/// ```
///
/// The author of a list of URLs can read every object that the key can read, so use one that may read only images.
/// Neither redirects nor web pages lead into a bucket.
public struct BucketAccess: Sendable {
  /// A key that signs requests (AWS Signature Version 4). That of Google Cloud Storage is an HMAC key.
  public struct Key: Hashable, Sendable {
    /// The public part.
    public var accessKey: String
    /// The secret part.
    public var secretKey: String
    /// The token of temporary credentials. Default nil: the key is permanent.
    public var sessionToken: String?

    /// Creates a key from its parts.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
      (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
    }
  }

  /// A server with buckets.
  public struct Store: Hashable, Sendable {
    /// The URL of the server without a path, such as `https://host:9000`. Default nil: that of the provider, which for
    /// Amazon S3 depends on the region.
    public var endpoint: String?
    /// The region of the buckets. A bucket of Amazon S3 that is elsewhere is found with the second attempt. Default
    /// `us-east-1`.
    public var region: String
    /// The key. Default nil: requests are not signed, for public buckets.
    public var key: Key?

    /// Creates the settings of a server.
    public init(endpoint: String? = nil, region: String = "us-east-1", key: Key? = nil) {
      (self.endpoint, self.region, self.key) = (endpoint, region, key)
    }
  }

  private let stores: @Sendable (SourceURL.Scheme) throws(FetchFailure) -> Store

  /// Creates the access to the servers `s3` and `gs`. Default for both: that of the provider, without a key.
  public init(s3: Store = Store(), gs: Store = Store(region: "auto")) {
    stores = { scheme throws(FetchFailure) in scheme == .gs ? gs : s3 }
  }

  /// Creates the access that the environment describes, as for the tools of the providers. Files are read when the
  /// first bucket is requested; if that fails, so do the requests.
  ///
  /// For S3: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or else the profile `AWS_PROFILE` or
  /// `default` of `~/.aws/credentials` and `~/.aws/config` (or `AWS_SHARED_CREDENTIALS_FILE` and
  /// `AWS_CONFIG_FILE`); `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_REGION` and `AWS_DEFAULT_REGION`, or else the
  /// profile. For Google Cloud Storage: `GS_ACCESS_KEY_ID` and `GS_SECRET_ACCESS_KEY`, and `STORAGE_EMULATOR_HOST`.
  ///
  /// - Parameters:
  ///   - environment: The environment variables.
  ///   - s3Endpoint: The URL of the S3 server. Default nil: that of the environment.
  public init(environment: [String: String], s3Endpoint: String? = nil) {
    stores = { scheme throws(FetchFailure) in
      guard scheme == .s3 else { return .gs(environment) }
      var store = try Store.s3(environment)
      if let s3Endpoint { store.endpoint = s3Endpoint }
      return store
    }
  }

  /// Returns the settings of the server for URLs with `scheme`.
  func store(for scheme: SourceURL.Scheme) throws(FetchFailure) -> Store {
    let store = try stores(scheme)
    _ = try store.server(of: scheme, region: store.region)
    return store
  }
}

extension BucketAccess.Store {
  /// Returns the URL of the server, with a final slash, for buckets in `region`.
  package func server(of scheme: SourceURL.Scheme, region: String) throws(FetchFailure) -> SourceURL {
    guard !region.isEmpty, region.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "-._".utf8.contains($0) }) else {
      throw FetchFailure(.badURL, "The region of \(scheme.rawValue):// may contain only letters, digits and - . _")
    }
    let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
    let usual = scheme == .gs ? "https://storage.googleapis.com" : "https://s3.\(region).\(domain)"
    let server = try? SourceURL(endpoint ?? usual)
    guard let server, server.scheme.isWeb, server.credentials == nil, server.pathAndQuery == "/" else {
      throw FetchFailure(
        .badURL, "The endpoint of \(scheme.rawValue):// must be a URL such as https://host:9000, without a path.")
    }
    return server
  }

  fileprivate static func gs(_ environment: [String: String]) -> BucketAccess.Store {
    let environment = Variables(environment)
    let endpoint = environment.first("STORAGE_EMULATOR_HOST").map { $0.contains("://") ? $0 : "http://\($0)" }
    return BucketAccess.Store(
      endpoint: endpoint, region: "auto",
      key: environment.pair("GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY").map {
        BucketAccess.Key(accessKey: $0, secretKey: $1)
      })
  }

  /// Returns the settings that the environment and the files of the AWS tools have for S3.
  package static func s3(_ environment: [String: String]) throws(FetchFailure) -> BucketAccess.Store {
    let variables = Variables(environment)
    let keys = variables.pair("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    var key = keys.map {
      BucketAccess.Key(accessKey: $0, secretKey: $1, sessionToken: variables.first("AWS_SESSION_TOKEN"))
    }
    let profile = try SharedProfile(variables)
    if key == nil { key = try profile.key }
    return BucketAccess.Store(
      endpoint: variables.first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? profile.endpoint,
      region: variables.first("AWS_REGION", "AWS_DEFAULT_REGION") ?? profile["region"] ?? "us-east-1", key: key)
  }
}

/// Environment variables; an empty one counts as missing.
private struct Variables {
  private let values: [String: String]

  init(_ values: [String: String]) { self.values = values.filter { !$0.value.isEmpty } }

  /// Returns the first of these variables that is set.
  func first(_ names: String...) -> String? { names.lazy.compactMap { values[$0] }.first }

  /// Returns two variables that only count together.
  func pair(_ first: String, _ second: String) -> (String, String)? {
    guard let first = values[first], let second = values[second] else { return nil }
    return (first, second)
  }
}

/// A profile of the files that the tools of AWS share (AWS SDKs and Tools Reference Guide, "Shared config and
/// credentials files").
private struct SharedProfile {
  private let name: String
  private var values: [String: String] = [:]
  private var services: [String: String] = [:]

  /// Reads the profile that the environment chooses. One without values is an error only if a variable names it.
  init(_ variables: Variables) throws(FetchFailure) {
    name = variables.first("AWS_PROFILE", "AWS_DEFAULT_PROFILE") ?? "default"
    let home = variables.first("HOME")
    func file(_ variable: String, _ usual: String) -> SharedFile {
      SharedFile(path: variables.first(variable) ?? home.map { "\($0)/.aws/\(usual)" })
    }
    let config = file("AWS_CONFIG_FILE", "config")
    values = config.sections[name == "default" ? name : "profile \(name)"] ?? config.sections["profile \(name)"] ?? [:]
    values.merge(file("AWS_SHARED_CREDENTIALS_FILE", "credentials").sections[name] ?? [:]) { $1 }
    if let group = values["services"] { services = config.sections["services \(group)"] ?? [:] }
    if values.isEmpty, variables.first("AWS_PROFILE", "AWS_DEFAULT_PROFILE") != nil {
      throw FetchFailure(.badURL, "There is no profile '\(name)' in the configuration files of AWS.")
    }
  }

  subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

  var endpoint: String? { services["s3.endpoint_url"] ?? self["endpoint_url"] }

  /// The key of the profile; nil if it has none.
  var key: BucketAccess.Key? {
    get throws(FetchFailure) {
      if let accessKey = self["aws_access_key_id"], let secretKey = self["aws_secret_access_key"] {
        return BucketAccess.Key(
          accessKey: accessKey, secretKey: secretKey, sessionToken: self["aws_session_token"])
      }
      let others = ["sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file"]
      guard let other = others.first(where: { self[$0] != nil }) else { return nil }
      let remedy = "eval \"$(aws configure export-credentials --profile \(name) --format env)\""
      throw FetchFailure(
        .badURL,
        "The profile '\(name)' gets its key by \(other), which is not supported. Put the key into the"
          + " environment: \(remedy)")
    }
  }
}

/// The sections of a configuration file of AWS. A setting inside another one has the key `outer.inner`.
private struct SharedFile {
  private(set) var sections: [String: [String: String]] = [:]

  /// The longest file in bytes.
  private static let maxBytes = 1 << 20

  /// Reads the file at `path`. One that is missing or cannot be read has no sections.
  init(path: String?) {
    guard let path, let bytes = FileManager.default.contents(atPath: path), bytes.count <= Self.maxBytes else { return }
    var (section, outer) = ("", "")
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
      if text.hasPrefix("[") {
        (section, outer) = (text.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces), "")
      } else if let (name, value) = Self.setting(text) {
        let isInner = line.first.map { $0 == " " || $0 == "\t" } == true && !outer.isEmpty
        if !isInner { outer = value.isEmpty ? name : "" }
        sections[section, default: [:]][isInner ? "\(outer).\(name)" : name] = value
      }
    }
  }

  private static func setting(_ line: String) -> (name: String, value: String)? {
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    // A comment behind a value begins with a space.
    let end = [" #", " ;", "\t#", "\t;"].compactMap { parts[1].firstRange(of: $0)?.lowerBound }.min()
    let value = end.map { parts[1][..<$0] } ?? parts[1]
    return (parts[0].trimmingCharacters(in: .whitespaces).lowercased(), value.trimmingCharacters(in: .whitespaces))
  }
}
