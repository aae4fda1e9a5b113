internal import Foundation

// The form `s3://bucket/prefix?endpoint=https://host&region=name`.
extension RemoteLocation {
  init(s3 url: String, environment: [String: String]) throws(FetchFailure) {
    let parts = url.dropFirst("s3://".count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = try Self.path(parts[0])
    let parameters = try Self.parameters(parts.count == 2 ? parts[1] : "")
    func variable(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
    let region = parameters["region"] ?? variable("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
    let endpoint = try Self.endpoint(
      parameters["endpoint"] ?? variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        ?? "https://s3.\(region).amazonaws.com")
    guard let accessKey = variable("AWS_ACCESS_KEY_ID"), let secretKey = variable("AWS_SECRET_ACCESS_KEY") else {
      throw FetchFailure(.badURL, "For s3://, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.")
    }
    guard Self.isPlain(region), !region.contains("/") else {
      throw FetchFailure(.badURL, "The region of s3:// may contain only letters, digits and - . _")
    }
    let signature = RequestSignature(region: region, accessKey: accessKey, secretKey: secretKey)
    self.init(
      prefix: "\(endpoint)/\(path)/",
      signer: Signer(signature: signature, sessionToken: variable("AWS_SESSION_TOKEN")))
  }

  /// Returns the bucket and the prefix as a path that needs no encoding.
  private static func path(_ text: Substring) throws(FetchFailure) -> String {
    let words = text.split(separator: "/", omittingEmptySubsequences: false)
    let path = words.last == "" ? words.dropLast() : words[...]
    guard !path.isEmpty, path.allSatisfy({ isPlain($0) && $0 != "." && $0 != ".." }) else {
      throw FetchFailure(
        .badURL, "The bucket and the prefix of s3:// must not be empty and may contain only letters, digits and - . _")
    }
    return path.joined(separator: "/")
  }

  private static func isPlain(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._/".utf8.contains($0) }
  }

  private static func parameters(_ query: Substring) throws(FetchFailure) -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, ["endpoint", "region"].contains(parts[0]), let value = parts[1].removingPercentEncoding
      else { throw FetchFailure(.badURL, "The query of s3:// may contain only endpoint= and region=.") }
      parameters[String(parts[0])] = value
    }
    return parameters
  }

  /// Returns the URL of the server without a final slash.
  private static func endpoint(_ text: String) throws(FetchFailure) -> String {
    let source = try? SourceURL(text)
    guard let source, source.scheme != .file, source.credentials == nil,
      source.pathAndQuery == "/"
    else {
      throw FetchFailure(.badURL, "The endpoint of s3:// must be a URL such as https://host:9000, without a path.")
    }
    return String(source.description.dropLast())
  }
}
