import ArgumentParser
import BatchFetch
import HTTPTypes
import Testing

@testable import thumbs

@Suite struct NetworkOptionsTests {
  @Test func `Without options, the defaults of the library apply`() throws {
    let options = try NetworkOptions.parse([])

    let (ours, defaults) = (options.configuration, Downloader.Configuration())
    #expect(ours.concurrency == defaults.concurrency && ours.perHost == defaults.perHost)
    #expect(ours.retry == defaults.retry && ours.limits == defaults.limits)
    #expect(ours.headerFields == defaults.headerFields)
    let transport = options.transportConfiguration(environment: ["HOME": "/home/me"])
    #expect(transport.insecureHosts.isEmpty && transport.netrc == nil && transport.maxConnections == 256)
  }

  @Test func `Every option about requests and hosts has its effect`() throws {
    let options = try NetworkOptions.parse([
      "--user-agent", "robot/1", "--referer", " https://site.example/ ", "--insecure-host", "Bücher.example",
      "--insecure-host", "h:8443", "--insecure-host", "[::1]", "--netrc", "--concurrency", "150",
      "--header", "X-A: 1", "--header", "X-A: 2", "--public-only",
    ])

    let fields = options.configuration.headerFields
    #expect(fields[.userAgent] == "robot/1" && fields[.referer] == "https://site.example/")
    #expect(try Credentials(options, environment: [:]).headerFields[values: .init("X-A")!] == ["1", "2"])
    #expect(options.configuration.limits.addresses == .publicOnly)
    let transport = options.transportConfiguration(environment: ["HOME": "/home/me"])
    #expect(transport.insecureHosts == ["xn--bcher-kva.example", "h:8443", "[::1]"])
    #expect(transport.netrc == "/home/me/.netrc" && transport.maxConnections == 300)
  }

  @Test func `The connections to a remote cache have the options of those to hosts`() throws {
    let command = try FetchCommand.parse([
      "list.txt", "--remote-cache", "https://cache.example/", "--insecure-host", "cache.example", "--netrc",
    ])

    let cache = try #require(try command.remoteCache(["HOME": "/home/me", "SSL_CERT_FILE": "/etc/authorities.pem"]))

    #expect(cache.connections.insecureHosts == ["cache.example"] && cache.connections.netrc == "/home/me/.netrc")
    #expect(cache.connections.systemAuthorities == "/etc/authorities.pem" && cache.connections.cookies == nil)
  }

  @Test func `Every option about limits has its effect`() throws {
    let configuration = try NetworkOptions.parse([
      "--concurrency", "9", "--per-host", "5", "--retries", "7", "--connect-timeout", "11", "--timeout", "13",
      "--max-bytes", "17k", "--max-redirects", "19", "--allow-file",
    ])

    let (downloads, limits) = (configuration.configuration, configuration.configuration.limits)
    #expect(downloads.concurrency == 9 && downloads.perHost == 5 && downloads.retry.limit == 7)
    #expect(limits.connect == .seconds(11) && limits.total == .seconds(13))
    #expect(limits.maxBytes == 17_000 && limits.maxRedirects == 19)
    #expect(configuration.fileAccess == .allowed)
  }

  @Test func `An empty user agent removes the header field`() throws {
    #expect(try NetworkOptions.parse(["--user-agent", ""]).configuration.headerFields[.userAgent] == nil)
  }

  @Test(arguments: [
    ("--user-agent", "a\nb", "line breaks"), ("--referer", "a\r\nX: y", "line breaks"),
    ("--insecure-host", "", "give a host"), ("--insecure-host", "https://h/", "give a host"),
    ("--insecure-host", "user@h", "give a host"), ("--insecure-host", "a b", "give a host"),
    ("--timeout", "0", "such as 90s, 5m or 1h"), ("--timeout", "5x", "such as 90s"),
    ("--max-bytes", "500", "500 without a unit would be bytes; give 500MiB"),
    ("--concurrency", "0", "whole number from 1"),
    ("--header", "A b: c", "letters, digits"),
    ("--header", "none", "'Name: value'"), ("--header", "TE: trailers", "TE is set by thumbs itself"),
  ])
  func `An invalid value is a usage error that names the option and the reason`(
    option: String, value: String, reason: String
  ) {
    let message = usageError { _ = try NetworkOptions.parse([option, value]) }

    #expect(message?.contains("for '\(option)") == true && message?.contains(reason) == true, "\(message ?? "")")
  }
}
