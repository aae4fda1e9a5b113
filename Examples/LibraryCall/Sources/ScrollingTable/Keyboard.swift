import Foundation

/// Delivers each key when it is pressed, or the characters of standard input if it is no terminal.
struct Keyboard {
  private let settings: termios?

  /// - Parameter receive: Receives each key, and nil at the end of the input. Called on another thread.
  init(receive: @escaping @Sendable (Character?) -> Void) {
    var settings = termios()
    self.settings = tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    Thread.detachNewThread {
      var key: UInt8 = 0
      while read(STDIN_FILENO, &key, 1) == 1 { receive(Character(UnicodeScalar(key))) }
      receive(nil)
    }
  }

  /// Restores the settings of the terminal.
  func close() {
    guard var settings else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }
}
