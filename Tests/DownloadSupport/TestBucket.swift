package import Downloads
internal import Foundation
internal import HTTPTypes

/// A bucket on the server of Tests/Servers/s3.py that no other test uses.
package struct TestBucket: Sendable {
  /// The environment variables that give access to the server.
  package let environment: [String: String]
  /// The name of the bucket.
  package let name: String
  private let downloader: Downloader

  /// - Parameters:
  ///   - name: The name. Default: a new one.
  ///   - changes: The variables that differ from those of a permanent key.
  package init(
    _ name: String = "test-\(UUID().uuidString.lowercased())", changes: [String: String] = [:]
  ) throws {
    self.name = name
    let usual = [
      "AWS_ACCESS_KEY_ID": "AKIDPERMANENT", "AWS_SECRET_ACCESS_KEY": "permanent/secret+key",
      "AWS_REGION": "test-region-1", "AWS_ENDPOINT_URL": try RealServers.url(.s3),
    ]
    environment = usual.merging(changes) { $1 }.filter { !$0.value.isEmpty }
    var configuration = Downloader.Configuration.patient
    configuration.buckets = BucketAccess(environment: environment)
    configuration.retry = RetryPolicy(limit: 3, base: .milliseconds(1))
    downloader = Downloader(configuration, transport: CurlTransport(CurlTransport.Configuration.direct))
  }

  /// Returns the URL of an object.
  package func url(_ key: String) -> String { "s3://\(name)/\(key)" }

  /// Stores an object.
  package func put(_ key: String, _ bytes: [UInt8]) async throws {
    var request = try DownloadRequest(url: url(key))
    request.action = .write(bytes)
    _ = try await downloader.download(request)
  }

  /// Reads an object.
  package func get(_ key: String) async throws -> Download { try await send(DownloadRequest(url: url(key))) }

  /// Sends a request for an object.
  package func send(_ request: DownloadRequest) async throws -> Download { try await downloader.download(request) }

  /// The requests for objects of this bucket so far: `GET key 200`, with keys as they were encoded.
  package var log: [String] {
    get throws {
      let text = try String(contentsOfFile: RealServers.url(.s3Log), encoding: .utf8)
      return text.split(separator: "\n").filter { $0.contains(" /\(name)/") }.map {
        $0.replacing("/\(name)/", with: "").trimmingCharacters(in: .whitespaces)
      }
    }
  }
}
