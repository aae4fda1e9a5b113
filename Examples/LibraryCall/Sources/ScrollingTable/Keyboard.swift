import Foundation
import Synchronization

/// Delivers each key when it is pressed, or the characters of standard input if it is no terminal.
final class Keyboard: Sendable {
  private let settings: termios?

  /// - Parameter receive: Receives each key, and nil at the end of the input. Called on another thread.
  init(receive: @escaping @Sendable (Character?) -> Void) {
    var settings = termios()
    self.settings = tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    FileHandle.standardInput.readabilityHandler = { input in
      let keys = input.availableData
      for key in String(decoding: keys, as: UTF8.self) { receive(key) }
      guard keys.isEmpty else { return }
      input.readabilityHandler = nil
      receive(nil)
    }
  }

  /// Restores the settings of the terminal.
  func close() {
    FileHandle.standardInput.readabilityHandler = nil
    guard var settings else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }
}
