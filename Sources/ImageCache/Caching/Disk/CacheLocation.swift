public import Foundation

/// The default location of the cache.
public enum CacheLocation {
  /// Returns `$THUMBS_CACHE_DIR`, or else `$XDG_CACHE_HOME/thumbs`, or else `$HOME/.cache/thumbs`; nil if none is set.
  ///
  /// A relative `XDG_CACHE_HOME` is ignored, as the XDG Base Directory Specification requires.
  public static func standard(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    if let directory = environment["THUMBS_CACHE_DIR"], !directory.isEmpty { return directory }
    if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") { return base + "/thumbs" }
    if let home = environment["HOME"], !home.isEmpty { return home + "/.cache/thumbs" }
    return nil
  }
}
