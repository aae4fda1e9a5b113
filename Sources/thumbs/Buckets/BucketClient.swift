import ArgumentParser
import BatchFetch
import CoreMetrics
import Dispatch
import Foundation
import HTTPTypes
import ImageCache
import Synchronization

/// A folder of a bucket: the objects whose keys begin with a prefix.
struct BucketFolder: Hashable, Sendable {
  private let scheme: SourceURL.Scheme
  let bucket: String
  /// Empty, or with a slash at its end.
  let prefix: String

  /// Reads `s3://bucket/prefix/` or `gs://bucket/prefix/`, with or without the slash at the end; nil for anything else.
  init?(_ text: String) {
    guard let url = try? BucketURL(text) else { return nil }
    (scheme, bucket) = (url.scheme, url.bucket)
    prefix = url.key.isEmpty || url.key.hasSuffix("/") ? url.key : url.key + "/"
  }

  /// Returns true for the URL of a bucket, valid or not.
  static func isURL(_ text: String) -> Bool { ["s3://", "gs://"].contains(text.prefix(5).lowercased()) }

  /// Returns the URL of the object called `name` in this folder.
  func url(of name: String) -> String { "\(scheme.rawValue)://\(bucket)/\(prefix)\(name)" }

  /// Returns the name in this folder of an object with `key`; nil if it is elsewhere.
  func name(ofKey key: String) -> Substring? { key.hasPrefix(prefix) ? key.dropFirst(prefix.count) : nil }

  /// Returns true if all objects of `folder` are objects of this one as well.
  func contains(_ folder: BucketFolder) -> Bool {
    (scheme, bucket) == (folder.scheme, folder.bucket) && folder.prefix.hasPrefix(prefix)
  }
}

extension BucketFolder: CustomStringConvertible {
  /// The URL without the slash at its end, as the name of a directory.
  var description: String { String("\(scheme.rawValue)://\(bucket)/\(prefix)".dropLast()) }
}

/// Requests to the buckets that the command line names, apart from the downloads of images: it has its own queue, so
/// that images and thumbnails do not wait for each other.
final class BucketClient: Sendable {
  /// An object and its type, as they are stored.
  struct Object: Sendable {
    var bytes: [UInt8]
    var mediaType: String
    /// The value of the metadata field ``BucketClient/field``.
    var label: String
  }

  /// The thing at the URL of an object to write.
  enum Occupant: Hashable, Sendable {
    case nothing
    /// An object with this label; nil if it has none.
    case object(label: String?)
  }

  /// The header field with our label. Its prefix makes it a part of the object.
  private static let field = "x-amz-meta-thumbs"

  /// The statuses of an object that is there or missing. An empty one has no first byte (416).
  private static let found = ResponseRules.Statuses.codes([200, 206, 404, 416])

  /// The longest object that is read, such as a report to retry.
  private static let maxBytes = 1 << 30
  /// The part of an error response that is read.
  private static let maxErrorBytes = 4096

  private let downloader: Downloader

  /// Creates a client with the settings of `network`.
  init(_ network: NetworkOptions, environment: [String: String]) {
    var configuration = network.configuration
    configuration.perHost = network.concurrency
    // That of the command line is about images.
    configuration.limits.maxBytes = Self.maxBytes
    configuration.buckets = network.buckets(environment: environment)
    configuration.metrics = NOOPMetricsHandler.instance
    let transport = CurlTransport(network.transportConfiguration(environment: environment))
    downloader = Downloader(configuration, transport: transport)
  }

  /// Ends all requests.
  func cancel() { downloader.cancelAll() }

  /// Reads the object at `url`; nil if it does not exist.
  func read(_ url: String, completion: @escaping @Sendable (Result<Object?, FetchFailure>) -> Void) {
    send(url, Self.found, completion: completion) { _ in
    } value: { download in
      Self.isMissing(download) ? nil : Object(download, label: Self.label(of: download))
    }
  }

  /// Looks at the object at `url`.
  func look(_ url: String, completion: @escaping @Sendable (Result<Occupant, FetchFailure>) -> Void) {
    send(url, Self.found, completion: completion) { request in
      request.headerFields[.range] = "bytes=0-0"
    } value: { download in
      Self.isMissing(download) ? .nothing : .object(label: Self.label(of: download))
    }
  }

  /// Stores `object` at `url`.
  func write(_ object: Object, to url: String, completion: @escaping @Sendable (Result<Void, FetchFailure>) -> Void) {
    send(url, .successful, completion: completion) { request in
      request.action = .write(object.bytes)
      request.headerFields[.contentType] = object.mediaType
      if let name = HTTPField.Name(Self.field) { request.headerFields[name] = object.label }
    } value: { _ in
      ()
    }
  }

  /// Reads a page of the list of a folder. `token` is that of the page before; nil for the first.
  func list(
    _ folder: BucketFolder, after token: String?, maxKeys: Int = 1000,
    completion: @escaping @Sendable (Result<BucketPage, FetchFailure>) -> Void
  ) {
    send(folder.url(of: ""), .successful, completion: completion) { request in
      request.action = .list(query: BucketPage.query(prefix: folder.prefix, token: token, maxKeys: maxKeys))
    } value: { download in
      BucketPage(download.body)
    }
  }

  private func send<Value: Sendable>(
    _ url: String, _ statuses: ResponseRules.Statuses,
    completion: @escaping @Sendable (Result<Value, FetchFailure>) -> Void,
    change: (inout DownloadRequest) -> Void, value: @escaping @Sendable (Download) -> Value
  ) {
    do throws(FetchFailure) {
      var request = try DownloadRequest(url: url)
      change(&request)
      request.responses.statuses = statuses
      request.responses.maxErrorBytes = Self.maxErrorBytes
      downloader.download(request) { completion($0.map(value).mapError { $0.explained }) }
    } catch {
      completion(.failure(error))
    }
  }

  private static func isMissing(_ download: Download) -> Bool { download.response.status == .notFound }

  private static func label(of download: Download) -> String? {
    HTTPField.Name(field).flatMap { download.response.headerFields[$0] }
  }
}

extension FetchFailure {
  /// The failure with the reason that an S3 server gives in the body of its response.
  fileprivate var explained: FetchFailure {
    guard !body.isEmpty, let code = String(decoding: body, as: UTF8.self).firstMatch(of: #/<Code>(\w+)<\/Code>/#) else {
      return self
    }
    var failure = self
    failure.message = "The server responded with status \(httpStatus ?? 0) (\(code.1))."
    return failure
  }
}

extension BucketClient.Object {
  fileprivate init(_ download: Download, label: String?) {
    self.init(
      bytes: download.body, mediaType: download.response.headerFields[.contentType] ?? "", label: label ?? "")
  }
}

extension BucketClient {
  /// Waits for the result of `body`, which calls its argument exactly once.
  static func wait<Value: Sendable>(
    _ body: (@escaping @Sendable (Result<Value, FetchFailure>) -> Void) -> Void
  ) throws(FetchFailure) -> Value {
    try Answer(body).value()
  }

  /// The result of a request that was sent, for a thread that waits for it later.
  final class Answer<Value: Sendable>: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Value, FetchFailure>>(.failure(.cancelled))

    /// Calls `body`, which sends the request and calls its argument exactly once.
    init(_ body: (@escaping @Sendable (Result<Value, FetchFailure>) -> Void) -> Void) {
      body { [self] result in
        self.result.withLock { $0 = result }
        done.signal()
      }
    }

    /// Waits for the result; a later call has it at once.
    func value() throws(FetchFailure) -> Value {
      done.wait()
      done.signal()
      return try result.withLock { $0 }.get()
    }
  }
}

/// A page of the list of a bucket (Amazon S3, ListObjectsV2).
struct BucketPage: Hashable, Sendable {
  /// An object.
  struct Item: Hashable, Sendable {
    var key: String
    var byteCount: Int
  }

  private(set) var items: [Item] = []
  /// The token of the next page; nil for the last one.
  private(set) var next: String?

  /// Returns the query for a page. Its parameters are in the order of their names.
  static func query(prefix: String, token: String?, maxKeys: Int) -> String {
    let parameters = [
      ("continuation-token", token), ("encoding-type", "url"), ("list-type", "2"), ("max-keys", "\(maxKeys)"),
      ("prefix", prefix),
    ]
    return parameters.compactMap { name, value in value.map { "\(name)=\(BucketURL.parameter($0))" } }
      .joined(separator: "&")
  }

  /// Reads the response in `bytes`. What is no response of this kind has no items.
  init(_ bytes: [UInt8]) {
    var tokenizer = MarkupTokenizer(bytes, .xml)
    var (text, item, isEncoded) = ("", Item(key: "", byteCount: 0), false)
    while let token = tokenizer.next() {
      switch token {
      case .text(let part): text += part
      case .tag(let tag) where !tag.isEnd: text = ""
      case .tag(let tag):
        switch tag.name {
        case "EncodingType": isEncoded = text == "url"
        case "Key": item.key = text
        case "Size": item.byteCount = Int(text) ?? 0
        case "NextContinuationToken": next = text
        case "Contents": items.append(item)
        default: break
        }
      }
    }
    // The encoding may be named behind the items.
    if isEncoded { for index in items.indices { items[index].key = Self.decoded(items[index].key) } }
  }

  private static func decoded(_ key: String) -> String {
    let spaced = key.replacing("+", with: " ")
    return spaced.removingPercentEncoding ?? spaced
  }
}
