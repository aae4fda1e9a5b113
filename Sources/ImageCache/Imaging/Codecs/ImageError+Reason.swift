extension ImageError {
  /// Creates an error with the sentence for a failure of a decoder or encoder, and with its own reason unless that is
  /// empty.
  init(_ code: Code, reason: String) {
    let sentence =
      switch code {
      case .truncated: "The image data is truncated"
      case .unsupportedFormat: "This variant of the format is not supported"
      case .tooManyPixels: "The image has more pixels than allowed"
      case .decodeLimit: "Decoding the image would take too much work or memory"
      case .outOfMemory: "Out of memory for the image"
      case .notAnImage: "The file is not an image"
      default: "The image is corrupt"
      }
    self.init(code, reason.isEmpty ? "\(sentence)." : "\(sentence): \(reason).")
  }
}
