import ArgumentParser
import Foundation
import ImageCache

/// `thumbs doctor`: checks whether this machine is ready for a run.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check libraries, configuration, caches, certificates, proxies, limits and free space.",
    discussion: """
      Each line is ok, a warning (a run works, but slower or with fewer features) or a problem (a run, or a part of \
      it, does not work), with a remedy. Nothing is changed on disk. If there is a remote cache, it gets one request.

      Examples:
        thumbs doctor
        thumbs doctor --json

      Exit status:
        0    no problem
        1    at least one problem
      """)

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Cache directory. (default: $THUMBS_CACHE_DIR, else $XDG_CACHE_HOME/thumbs, else ~/.cache/thumbs)",
      valueName: "dir"),
    completion: .directory)
  var cacheDir: String?

  @OptionGroup var output: JSONOption
  @OptionGroup var configuration: ConfigurationOptions

  func run() throws {
    let environment = ProcessInfo.processInfo.environment
    let directory = cacheDir ?? CacheLocation.standard(environment: environment)
    let file = configuration.noConfig ? .ignored : ConfigurationFileCheck.Condition(environment: environment)
    let checks = Checkup.checks(cacheDirectory: directory, configuration: file, environment: environment)
    let checkup = Checkup(checks)
    try output.print(checkup, or: checkup.text)
    if checkup.problems > 0 { throw ExitCode.failure }
  }
}
