import Foundation
import HTTPTypes
import Testing

@testable import BatchFetch

/// The servers that Tests/Servers/run.py starts, as the environment names them.
enum RealServers {
  /// Each is the variable `THUMBS_TEST_<NAME>`.
  enum Name: String, Sendable {
    case http = "HTTP"
    case https = "HTTPS"
    case http2 = "HTTP2"
    case expired = "EXPIRED"
    case wrongHost = "WRONG_HOST"
    case selfSigned = "SELF_SIGNED"
    case oldTLS = "OLD_TLS"
    case proxy = "PROXY"
    /// The file with the certificate of the authority that the good servers have theirs from.
    case authority = "CA"
    /// The directory that nginx serves.
    case files = "FILES"
  }

  static func has(_ name: Name) -> Bool { value(name) != nil }

  static func url(_ name: Name, _ path: String = "") throws -> String { try #require(value(name)) + path }

  /// The bytes of a file as nginx has them.
  static func file(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: url(.files, "/\(name)"))))
  }

  private static func value(_ name: Name) -> String? {
    ProcessInfo.processInfo.environment["THUMBS_TEST_\(name.rawValue)"]
  }

  /// A transport that trusts the servers' authority.
  static func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration.direct
    configuration.certificateAuthorities = try url(.authority)
    change(&configuration)
    return CurlTransport(configuration)
  }

  /// A downloader over such a transport, without retries.
  static func downloader(
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
  /// Without the server, the test is skipped, and says how it is had.
  static func needs(_ name: RealServers.Name) -> Self {
    .enabled(if: RealServers.has(name), "\"make test\" starts the servers that this needs.")
  }
}

extension Downloader {
  /// Downloads the file at `url`.
  func download(_ url: String) async throws -> Download {
    try await download(DownloadRequest(source: SourceURL(url)))
  }

  /// Downloads all of `urls` at once.
  func downloadAll(_ urls: [String]) async throws -> [Download] {
    try await withThrowingTaskGroup { group in
      for url in urls { group.addTask { try await self.download(url) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}

extension Download {
  /// What nginx says of the request it answered.
  func said(_ name: String) -> String? { response.headerFields[.init(name)!] }
}
