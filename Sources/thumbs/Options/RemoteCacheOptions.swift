import ArgumentParser
import BatchFetch

/// The options of the cache that several machines share.
struct RemoteCacheOptions: ParsableArguments {
  /// The parser would quote an invalid value, which may have a password; ``cache(netrc:environment:)`` checks it.
  @Option(
    help: ArgumentHelp(
      "Cache that several machines share: http://host/path or s3://bucket/prefix. (default: $THUMBS_REMOTE_CACHE)",
      discussion: """
        Images are looked up on the server before they are downloaded, and their thumbnails are uploaded to it. \
        s3:// takes ?endpoint=URL&region=NAME, and the key from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. \
        Private images, those of requests with credentials, and those of private networks are not uploaded.
        """,
      valueName: "url"))
  var remoteCache: String?

  @Flag(help: "Read the remote cache, but upload nothing.")
  var remoteCacheReadOnly = false

  @Option(
    help: ArgumentHelp(
      "File with a key that signs what is in the remote cache. (default: the key in $THUMBS_REMOTE_CACHE_KEY)",
      discussion: "Objects without the signature of this key are not used. A line feed at the end does not count.",
      valueName: "file"),
    completion: .file())
  var remoteCacheKey: String?

  @Flag(
    help: ArgumentHelp(
      "Share the images of private networks, too, such as those of localhost and 10.0.0.1.",
      discussion: "All machines must be in the same network and use this option. Has no effect with --public-only."))
  var remoteCachePrivate = false

  @Option(
    help: ArgumentHelp("Maximum time to connect to the remote cache. (default: 0.1s)", valueName: "time"),
    transform: { try Count.seconds($0) })
  var remoteCacheConnectTimeout = Duration.milliseconds(100)

  @Option(
    help: ArgumentHelp(
      "Maximum time to read one object of the remote cache. (default: 1s)",
      discussion: "When lookups have cost the run more time than this, the remote cache is skipped for a while.",
      valueName: "time"),
    transform: { try Count.seconds($0) })
  var remoteCacheTimeout = Duration.seconds(1)

  /// The maximum length of the key in bytes.
  private static let longestKey = 1 << 16

  /// Returns the settings of the remote cache; nil if there is none.
  ///
  /// - Parameters:
  ///   - connections: The configuration of the connections to its server.
  ///   - environment: The environment variables of the process.
  /// - Throws: A `ValidationError` with the option, the reason and the remedy.
  func cache(connections: CurlTransport.Configuration, environment: [String: String]) throws -> RemoteCache? {
    guard let url = remoteCache ?? environment["THUMBS_REMOTE_CACHE"], !url.isEmpty else { return nil }
    var cache: RemoteCache
    do throws(FetchFailure) {
      cache = try RemoteCache(url, environment: environment)
    } catch {
      throw ValidationError("--remote-cache: \(error.message)")
    }
    cache.access = remoteCacheReadOnly ? .readOnly : .readWrite
    cache.secret = try secret(environment)
    cache.allowsPrivateSources = remoteCachePrivate
    cache.connectTimeout = remoteCacheConnectTimeout
    cache.readTimeout = remoteCacheTimeout
    cache.connections = connections
    return cache
  }

  private func secret(_ environment: [String: String]) throws -> RemoteCache.Secret? {
    if let path = remoteCacheKey { return try secret(in: keyFile(path), from: "--remote-cache-key \(path)") }
    // An empty variable is probably a secret that is missing, so it is an error.
    guard let text = environment["THUMBS_REMOTE_CACHE_KEY"] else { return nil }
    return try secret(in: Array(text.utf8), from: "THUMBS_REMOTE_CACHE_KEY")
  }

  private func secret(in bytes: [UInt8], from place: String) throws -> RemoteCache.Secret {
    let key = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
    guard let secret = RemoteCache.Secret(Array(key)) else {
      throw ValidationError(
        "\(place): the key is shorter than \(RemoteCache.Secret.minLength) bytes; make one with openssl rand -hex 32.")
    }
    return secret
  }

  private func keyFile(_ path: String) throws -> [UInt8] {
    do throws(InputError) {
      return try ByteSource.open(path, expecting: "a file with a key").bytes(limit: Self.longestKey)
    } catch {
      throw ValidationError("--remote-cache-key \(error)")
    }
  }
}
