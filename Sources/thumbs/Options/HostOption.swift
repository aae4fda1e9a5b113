import ArgumentParser
import BatchFetch

/// A host as written on the command line: `icons.example`, `icons.example:8443`, `[::1]`.
struct HostOption: Hashable, Sendable {
  /// The host in lower case and ASCII, followed by its port if one was given.
  var host: String
}

extension HostOption {
  /// Parses a host with an optional port.
  init(_ text: String) throws {
    guard !text.contains(where: { "/?#@".contains($0) }), let url = try? SourceURL("https://\(text)/") else {
      throw ValidationError("give a host such as icons.example, or icons.example:8443")
    }
    host = url.host
  }
}
