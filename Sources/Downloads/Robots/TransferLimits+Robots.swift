extension TransferLimits {
  /// The limits for a robots.txt: at least five redirects are followed (RFC 9309, section 2.3.1.2), and the size
  /// is that of the part that is read (section 2.5).
  var forRobotsFile: TransferLimits {
    var limits = self
    limits.maxRedirects = max(5, maxRedirects)
    limits.maxBytes = RobotsFile.maxBytes
    return limits
  }
}
