import ArgumentParser
import BatchFetch

/// A host as the command line names it: `icons.example`, `icons.example:8443`, `[::1]`.
struct HostOption: Hashable, Sendable {
  /// In lower case and ASCII, with its port where one was given.
  var host: String
}

extension HostOption {
  /// The host that `text` names.
  init(_ text: String) throws {
    guard !text.contains(where: { "/?#@".contains($0) }), let url = try? SourceURL("https://\(text)/") else {
      throw ValidationError("give a host such as icons.example, or icons.example:8443")
    }
    host = url.host
  }
}
