extension TransferLimits {
  /// The limits for a robots.txt: at least five redirects are followed (RFC 9309, section 2.3.1.2).
  var forRobotsFile: TransferLimits {
    var limits = self
    limits.maxRedirects = max(5, maxRedirects)
    return limits
  }
}
