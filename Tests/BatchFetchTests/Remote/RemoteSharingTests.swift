import Testing

@testable import BatchFetch

@Suite struct RemoteSharingTests {
  @Test(arguments: [
    "http://127.0.0.1/", "http://127.9.9.9:8080/a", "http://localhost/", "https://a.localhost/", "http://LOCALHOST./",
    "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.1.1/", "http://100.64.0.1/",
    "http://0x7f000001/", "http://0.0.0.0/", "http://[::1]/", "http://[fe80::1]/", "http://[fd00::1]/",
    "http://[::ffff:10.0.0.1]/", "http://intranet/", "http://files.internal/", "http://printer.local/",
    "http://nas.home.arpa./",
  ])
  func `A URL of a private network is shared only with the setting`(url: String) throws {
    let source = try SourceURL(url)
    #expect(source.isPrivate)
    #expect(!RemoteSharing(allowsPrivateSources: false).allows(source))
    #expect(RemoteSharing(allowsPrivateSources: true).allows(source))
    #expect(!RemoteSharing(allowsPrivateSources: false).allows(finalURL: source.description))
  }

  @Test(arguments: [
    "http://93.184.216.34/", "https://images.example/a", "https://internal.example/", "http://local.example:8080/",
    "http://[2606:4700::1111]/",
  ])
  func `A URL that may be public is shared`(url: String) throws {
    let sharing = RemoteSharing(allowsPrivateSources: false)
    #expect(sharing.allows(try SourceURL(url)))
    #expect(sharing.allows(finalURL: url))
    #expect(sharing.allows(finalURL: nil))
  }

  @Test(arguments: [true, false])
  func `Local files and URLs with credentials are never shared`(allowsPrivate: Bool) throws {
    let sharing = RemoteSharing(allowsPrivateSources: allowsPrivate)
    #expect(!sharing.allows(try SourceURL("file:///a.png")))
    #expect(!sharing.allows(try SourceURL("http://user@images.example/")))
  }
}
