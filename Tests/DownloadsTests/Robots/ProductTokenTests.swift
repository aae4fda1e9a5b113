import Testing

@testable import Downloads

@Suite struct ProductTokenTests {
  @Test(arguments: [
    ("thumbs/0.1.0", "thumbs"), ("MyBot/1.2 (+https://bot.example)", "MyBot"), ("MyBot", "MyBot"),
    ("My-Image_Bot (x)", "My-Image_Bot"), (" MyBot/1", "MyBot"), ("Bot42/1.0", "Bot42"), ("img.bot;1", "img.bot"),
    ("Mozilla/5.0 (compatible; MyBot/1.2)", "Mozilla"),
  ])
  func `The product token is the first token without its version`(userAgent: String, token: String) {
    #expect(RobotsFile.productToken(ofUserAgent: userAgent) == token)
  }

  @Test(arguments: [nil, "", " ", "/1.0", "(a comment)", "*", "\u{E9}t\u{E9}"])
  func `A header field without a token has the default one`(userAgent: String?) {
    #expect(RobotsFile.productToken(ofUserAgent: userAgent) == "thumbs")
  }

  @Test(arguments: ["MyBot", "mybot", "MYBOT/2"])
  func `A group applies to the sender of a custom header field`(agent: String) {
    let token = RobotsFile.productToken(ofUserAgent: "MyBot/1.2 (+https://bot.example)")
    #expect(!RobotsFile("User-agent: \(agent)\nDisallow: /".utf8, productToken: token).allows(path: "/"))
  }
}
