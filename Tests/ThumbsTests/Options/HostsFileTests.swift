import BatchFetch
import HTTPTypes
import TestSupport
import Testing

@testable import thumbs

@Suite struct HostsFileTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func rules(_ text: String) throws -> HostRules {
    try HostsFile.rules(path: directory.write(text, as: "hosts.json"))
  }

  @Test func `Every setting has its effect`() throws {
    let rules = try rules(
      """
      {"Images.example": {"rate": "0.5/s", "per-host": 2, "user-agent": "robot/1",
                          "headers": {"Referer": "https://a.example/b:c", "X-Key": " 1 "}},
       "*.cdn.example": {"per-host": 16, "headers": {}}, "images.example:8443": {"user-agent": ""}, "*": {}}
      """)

    let rule = rules.rule(for: "images.example")
    #expect(rule.rate == RequestRate("0.5/s") && rule.perHost == 2)
    let fields = rule.headerFields
    #expect(fields[.userAgent] == "robot/1" && fields[.referer] == "https://a.example/b:c" && fields.count == 3)
    #expect(fields[try #require(HTTPField.Name("X-Key"))] == "1")
    #expect(rules.rule(for: "a.cdn.example") == HostRule(perHost: 16) && rules.rule(for: "b") == HostRule())
    #expect(rules.rule(for: "images.example:8443").headerFields[.userAgent] == "")
  }

  @Test(arguments: ["{}", "{\"*\": {}}", " \n{ } \n"])
  func `A file may have no settings`(text: String) throws {
    #expect(try rules(text).rule(for: "h") == HostRule())
  }

  @Test(arguments: [
    ("", ": is empty; a file without settings contains {}."), (" \n", ": is empty"),
    ("[]", ": the top level of the JSON is not an object."),
    ("{\n  \"a\": {\"rate\": \"5/s\",,}}", ", line 2, column "), ("{\"a\": {", "the JSON ends unexpectedly"),
    ("{\"a b\": {}}", ", \"a b\": not a host; give one such as images.example, images.example:8443, *.cdn.example"),
    ("{\"https://h/\": {}}", ", \"https://h/\": not a host"), ("{\"*.1.2.3.4\": {}}", ", \"*.1.2.3.4\": not a host"),
    ("{\"a\": {}, \"a\": {}}", ": \"a\" occurs twice; keep one of them."),
    ("{\"a\": {}, \"\\u0061\": {}}", ": \"a\" occurs twice; keep one of them."),
    ("{\"Bücher\": {}, \"xn--bcher-kva\": {}}", ", \"xn--bcher-kva\": the host xn--bcher-kva occurs twice"),
    ("{\"a\": {\"rate\": \"5/s\", \"rate\": \"6/s\"}}", ", \"a\": \"rate\" occurs twice"),
    ("{\"a\": {\"headers\": {\"X\": \"1\", \"X\": \"2\"}}}", ", \"a\", \"headers\": \"X\" occurs twice"),
    ("{\"a\": {\"headers\": {\"X\": \"1\", \"x\": \"2\"}}}", ", \"a\", \"headers\", \"x\": x is set twice"),
    ("{\"a\": {\"user-agent\": \"u\", \"headers\": {\"user-agent\": \"v\"}}}", "User-Agent is set twice"),
    ("{\"a\": 5}", ", \"a\": give an object of settings such as {\"rate\": \"5/s\"}."),
    ("{\"a\": {\"rates\": 5}}", ", \"a\", \"rates\": there is no such setting; the settings are rate, per-host"),
    ("{\"a\": {\"rate\": 5}}", ", \"a\", \"rate\": give a string such as \"5/s\"."),
    ("{\"a\": {\"rate\": \"0/s\"}}", ", \"a\", \"rate\": give 0.001 to 1000000 requests per second"),
    ("{\"a\": {\"rate\": null}}", ", \"a\", \"rate\": give a string"),
    ("{\"a\": {\"per-host\": 0}}", ", \"a\", \"per-host\": give a whole number from 1 to 65535."),
    ("{\"a\": {\"per-host\": 65536}}", "from 1 to 65535"), ("{\"a\": {\"per-host\": \"2\"}}", "from 1 to 65535"),
    ("{\"a\": {\"per-host\": true}}", "from 1 to 65535"), ("{\"a\": {\"per-host\": 2.5}}", "from 1 to 65535"),
    ("{\"a\": {\"per-host\": 99999999999999999999}}", "from 1 to 65535"),
    ("{\"a\": {\"user-agent\": 1}}", ", \"a\", \"user-agent\": give a string."),
    ("{\"a\": {\"user-agent\": \"a\\nb\"}}", ", \"a\", \"user-agent\": the value must not contain line breaks"),
    ("{\"a\": {\"headers\": [\"X: 1\"]}}", ", \"a\", \"headers\": give an object of strings"),
    ("{\"a\": {\"headers\": {\"X\": 1}}}", ", \"a\", \"headers\": give an object of strings"),
    ("{\"a\": {\"headers\": {\"TE\": \"x\"}}}", ", \"a\", \"headers\", \"TE\": TE is set by thumbs itself"),
    (
      "{\"a\": {\"headers\": {\"X:Y\": \"x\"}}}", ", \"a\", \"headers\", \"X:Y\": the name before the colon may contain"
    ),
    ("{\"a\": {\"headers\": {\"X\": \"a\\r\\nb: c\"}}}", "\"X\": the value must not contain line breaks"),
  ])
  func `An error names the file, the host, the key and the remedy`(text: String, expected: String) throws {
    let message = try #require(usageError { _ = try rules(text) })

    #expect(message.hasPrefix("--hosts \(directory.path("hosts.json"))") && message.contains(expected), "\(message)")
  }

  @Test func `A file that cannot be read is a usage error`() throws {
    let missing = usageError { _ = try HostsFile.rules(path: directory.path("none.json")) }
    #expect(missing == "--hosts \(directory.path("none.json")): there is no such file.")

    let folder = usageError { _ = try HostsFile.rules(path: directory.path) }
    #expect(folder == "--hosts \(directory.path): is a directory, not a JSON file.")

    let endless = usageError { _ = try HostsFile.rules(path: "/dev/zero") }
    #expect(endless == "--hosts /dev/zero: is longer than 16 MiB.")
  }
}
