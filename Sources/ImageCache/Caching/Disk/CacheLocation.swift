public import Foundation

/// Where the cache is when nobody says.
public enum CacheLocation {
  /// `$THUMBS_CACHE_DIR`, else `$XDG_CACHE_HOME/thumbs`, else `$HOME/.cache/thumbs`; nil when none of them is set.
  ///
  /// As the XDG Base Directory Specification asks, a relative `XDG_CACHE_HOME` is ignored.
  public static func standard(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    if let directory = environment["THUMBS_CACHE_DIR"], !directory.isEmpty { return directory }
    if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") { return base + "/thumbs" }
    if let home = environment["HOME"], !home.isEmpty { return home + "/.cache/thumbs" }
    return nil
  }
}
