import Testing

@testable import BatchFetch

/// The parts of a URL that are part of the cache key.
@Suite struct CacheKeyQueryTests {
  @Test(
    arguments: [
      ("http://a.test/x?id=1&sig=2", .all, nil),
      ("http://a.test/x", .only(["id"]), nil),
      ("http://a.test/x?id=1&sig=2", .only([]), "http://a.test/x"),
      ("http://a.test/x?sig=2&id=1&v=3", .only(["v", "id"]), "http://a.test/x?id=1&v=3"),
      ("http://a.test/x?%69d=1&sig=2", .only(["id"]), "http://a.test/x?%69d=1"),
      ("http://a.test/x?id&sig=id=1", .only(["id"]), "http://a.test/x?id"),
      ("http://a.test/x?sig=2", .only(["id"]), "http://a.test/x"),
      ("http://a.test/x?id=1?id=2&id=3", .only(["id"]), "http://a.test/x?id=1?id=2&id=3"),
    ] as [(String, CacheKeyQuery, String?)])
  func `The key of a URL has the parameters that are named, in their order`(
    url: String, query: CacheKeyQuery, key: String?
  ) throws {
    #expect(query.key(of: try SourceURL(url)) == key)
  }
}
