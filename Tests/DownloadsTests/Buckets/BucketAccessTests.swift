import Foundation
import TestSupport
import Testing

@testable import Downloads

@Suite struct BucketAccessTests {
  private static let config = """
    # Comment
    [default]
    region = eu-west-1
    [profile other]
    region=us-west-2   ; why
    endpoint_url = http://127.0.0.1:1
    services = local
    output = json
    [profile sso]
    sso_session = company
    [ services local ]
    s3 =
      endpoint_url = http://127.0.0.1:9000
      max_attempts = 2
    dynamodb =
      endpoint_url = http://127.0.0.1:8000
    """
  private static let credentials = """
    [default]
    aws_access_key_id = ID
    aws_secret_access_key = SECRET+with/signs=
    [other]
    aws_access_key_id=OTHER
    aws_secret_access_key=KEY#1
    aws_session_token=TOKEN
    """

  /// Returns the settings for S3 with these files in the home directory, and `environment`.
  private static func store(
    _ environment: [String: String] = [:], config: String? = config, credentials: String? = credentials
  ) throws -> BucketAccess.Store {
    let home = try TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: home.path(".aws"), withIntermediateDirectories: true)
    if let config { _ = try home.write(config, as: ".aws/config") }
    if let credentials { _ = try home.write(credentials, as: ".aws/credentials") }
    return try BucketAccess(environment: environment.merging(["HOME": home.path]) { a, _ in a }).store(for: .s3)
  }

  @Test func `The default profile has the key and the region`() throws {
    #expect(
      try Self.store()
        == .init(region: "eu-west-1", key: .init(accessKey: "ID", secretKey: "SECRET+with/signs=")))
  }

  @Test func `A profile has its own key and server`() throws {
    let key = BucketAccess.Key(accessKey: "OTHER", secretKey: "KEY#1", sessionToken: "TOKEN")
    let store = BucketAccess.Store(endpoint: "http://127.0.0.1:9000", region: "us-west-2", key: key)
    #expect(try Self.store(["AWS_PROFILE": "other"]) == store)
  }

  @Test func `The environment takes precedence over the files`() throws {
    let store = try Self.store([
      "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "", "AWS_REGION": "",
      "AWS_DEFAULT_REGION": "north", "AWS_ENDPOINT_URL_S3": "https://a.example",
      "AWS_ENDPOINT_URL": "https://b.example",
    ])
    let key = BucketAccess.Key(accessKey: "ENV", secretKey: "S")
    #expect(store == .init(endpoint: "https://a.example", region: "north", key: key))
  }

  @Test func `Files elsewhere are read, and missing ones have nothing`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("[default]\naws_access_key_id = A\naws_secret_access_key = B\n", as: "keys")
    let environment = ["AWS_SHARED_CREDENTIALS_FILE": path, "AWS_CONFIG_FILE": directory.path("none")]
    #expect(try Self.store(environment).key == .init(accessKey: "A", secretKey: "B"))
    #expect(try Self.store(config: nil, credentials: nil) == .init())
    #expect(try BucketAccess(environment: [:]).store(for: .s3) == .init())
  }

  @Test(arguments: [
    (["AWS_PROFILE": "nobody"], "no profile 'nobody'"), (["AWS_PROFILE": "sso"], "export-credentials --profile sso"),
    (["AWS_REGION": "a b"], "region"), (["AWS_ENDPOINT_URL": "http://a.example/path"], "endpoint"),
  ])
  func `Settings that cannot be used are an error with a remedy`(environment: [String: String], text: String) {
    let failure = #expect(throws: FetchFailure.self) { try Self.store(environment) }
    #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "")")
  }

  @Test func `Google Cloud Storage has an HMAC key`() throws {
    let environment = [
      "GS_ACCESS_KEY_ID": "GOOG", "GS_SECRET_ACCESS_KEY": "S", "AWS_REGION": "x",
      "STORAGE_EMULATOR_HOST": "localhost:1",
    ]
    let store = try BucketAccess(environment: environment).store(for: .gs)
    #expect(
      store == .init(endpoint: "http://localhost:1", region: "auto", key: .init(accessKey: "GOOG", secretKey: "S")))
    #expect(try BucketAccess(environment: [:]).store(for: .gs).key == nil)
  }

  @Test(arguments: [
    (SourceURL.Scheme.s3, "us-east-1", "https://s3.us-east-1.amazonaws.com/"),
    (.s3, "cn-north-1", "https://s3.cn-north-1.amazonaws.com.cn/"), (.gs, "auto", "https://storage.googleapis.com/"),
  ])
  func `The provider has a server for each region`(scheme: SourceURL.Scheme, region: String, url: String) throws {
    #expect(try BucketAccess.Store().server(of: scheme, region: region).description == url)
  }
}
