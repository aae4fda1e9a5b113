import ImageCache

extension DecoderIsolation {
  /// Enough time for an image on a machine that runs many other tests.
  static var patient: DecoderIsolation {
    var isolation = DecoderIsolation()
    isolation.timeout = .seconds(300)
    return isolation
  }
}
