package import Downloads
internal import Foundation
internal import HTTPTypes
package import Testing

/// The servers that Tests/Servers/run.py starts. Environment variables contain their URLs.
package enum RealServers {
  /// A server or file, in the variable `THUMBS_TEST_<NAME>`.
  package enum Name: String, Sendable {
    case http = "HTTP"
    case https = "HTTPS"
    case http2 = "HTTP2"
    case expired = "EXPIRED"
    case wrongHost = "WRONG_HOST"
    case selfSigned = "SELF_SIGNED"
    case oldTLS = "OLD_TLS"
    case proxy = "PROXY"
    /// The object stores of nginx and of Tests/Servers/s3.py, and their logs.
    case store = "STORE"
    case storeLog = "STORE_LOG"
    case s3 = "S3"
    case s3Log = "S3_LOG"
    /// Servers that flood their clients with HTTP/2 frames; see Tests/Servers/flood.py.
    case windowFlood = "FLOOD_WINDOW"
    case pingFlood = "FLOOD_PING"
    case dataFlood = "FLOOD_DATA"
    /// The file with the certificate of the authority that signed the certificates of the good servers.
    case authority = "CA"
    /// The directory that nginx serves.
    case files = "FILES"
  }

  package static func has(_ name: Name) -> Bool { value(name) != nil }

  package static func url(_ name: Name, _ path: String = "") throws -> String { try #require(value(name)) + path }

  /// Returns the bytes of a file that nginx serves.
  package static func file(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: url(.files, "/\(name)"))))
  }

  private static func value(_ name: Name) -> String? {
    ProcessInfo.processInfo.environment["THUMBS_TEST_\(name.rawValue)"]
  }

  /// Returns a transport that trusts the certificate authority of the servers.
  package static func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws
    -> CurlTransport
  {
    var configuration = CurlTransport.Configuration.direct
    configuration.certificateAuthorities = try url(.authority)
    change(&configuration)
    return CurlTransport(configuration)
  }

  /// Returns a downloader without retries that trusts the certificate authority of the servers.
  package static func downloader(
    width: Int = 16, _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
  ) throws -> Downloader {
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    configuration.concurrency = width
    configuration.perHost = width
    return try Downloader(configuration, transport: transport(change))
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test unless the server runs.
  package static func needs(_ name: RealServers.Name) -> Self {
    .enabled(if: RealServers.has(name), "\"make test\" starts the servers that this test needs.")
  }
}

extension Downloader {
  /// Downloads the file at `url`.
  package func download(_ url: String) async throws -> Download {
    try await download(DownloadRequest(source: SourceURL(url)))
  }

  /// Downloads all of `urls` concurrently.
  package func downloadAll(_ urls: [String]) async throws -> [Download] {
    try await withThrowingTaskGroup { group in
      for url in urls { group.addTask { try await self.download(url) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}

extension Download {
  /// Returns the value of a response field, some of which report what nginx received.
  package func field(_ name: String) -> String? { response.headerFields[.init(name)!] }
}
