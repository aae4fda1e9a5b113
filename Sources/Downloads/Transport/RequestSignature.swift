/// The key and the parameters with which libcurl signs a request (AWS Signature Version 4).
///
/// The request must have the field `x-amz-content-sha256`, which libcurl 7.88 does not add. All of its fields are
/// signed.
package struct RequestSignature: Hashable, Sendable {
  /// The region, such as `us-east-1`.
  let region: String
  let accessKey: String
  let secretKey: String

  package init(region: String, accessKey: String, secretKey: String) {
    self.region = region
    self.accessKey = accessKey
    self.secretKey = secretKey
  }

  /// The provider, its name in header fields, the region and the service, as libcurl expects them.
  var parameters: String { "aws:amz:\(region):s3" }
}
