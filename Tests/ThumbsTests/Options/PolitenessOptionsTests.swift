import ArgumentParser
import BatchFetch
import Testing

@testable import thumbs

@Suite struct PolitenessOptionsTests {
  @Test func `Without options, the defaults of the library apply`() throws {
    let command = try FetchCommand.parse([])

    let (ours, defaults) = (command.pipelineConfiguration.downloads, Downloader.Configuration())
    #expect(ours.rate == nil && ours.rate == defaults.rate)
    #expect(ours.robots == .ignored && ours.robots == defaults.robots)
    #expect(ours.maxHostFailures == 5 && ours.maxHostFailures == defaults.maxHostFailures)
    #expect(ours.retry == defaults.retry && ours.retry.maxWait == .seconds(120))
    #expect(try command.politeness.hostRules() == defaults.hosts && defaults.hosts.isEmpty)
    #expect(command.runLimits.limits.isEmpty)
  }

  @Test(arguments: [["fetch", "list.txt"], ["retry", "report.jsonl"]])
  func `Both commands have every option, and each has its effect`(command: [String]) throws {
    let options = [
      "--rate", "45/m", "--max-wait", "0", "--robots", "--no-host-breaker", "--retries", "7", "--max-run-time", "1.5",
      "--max-run-bytes", "2MiB", "--hosts", "hosts.json",
    ]
    let parsed = try #require(try Thumbs.parseAsRoot(command + options) as? any FetchingCommand)

    let downloads = parsed.pipelineConfiguration.downloads
    #expect(downloads.rate == RequestRate("45/m") && downloads.retry.maxWait == .zero && downloads.retry.limit == 7)
    #expect(downloads.robots == .obeyed && downloads.maxHostFailures == nil)
    #expect(parsed.runLimits.limits == RunLimits(time: .milliseconds(1500), bytes: ByteSize(count: 2 << 20)))
    #expect(parsed.politeness.hosts == "hosts.json")
  }

  @Test(arguments: [
    ("--rate", "0/s", "such as 5/s, 45/m, 100/h"), ("--rate", "5", "per second, minute or hour"),
    ("--max-wait", "-1", "from 0 to 86400"), ("--max-wait", "nan", "from 0 to 86400"),
    ("--max-run-time", "0", "from 0.001 to 31536000"), ("--max-run-bytes", "0", "at least 1 byte"),
    ("--max-run-bytes", "5x", "number of bytes"), ("--hosts", "-", "/dev/stdin"),
  ])
  func `An invalid value is a usage error that names the option and the remedy`(
    option: String, value: String, remedy: String
  ) {
    let message = usageError { _ = try Thumbs.parseAsRoot(["fetch", "\(option)=\(value)"]) }

    #expect(message?.contains("for '\(option)") == true && message?.contains(remedy) == true, "\(message ?? "")")
  }
}
