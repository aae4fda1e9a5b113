/// The hold on work that is done piece by piece: the token of each piece becomes known after it began, and perhaps after
/// it ended. A plain value; its owner guards it with a lock, and acts on the results after unlocking.
struct LateToken<Token> {
  /// Names one piece.
  struct Round: Equatable, Sendable {
    fileprivate var number = 0
  }

  private var round = Round()
  private var isRunning = false
  /// The token of the piece that runs, as far as it is known.
  private(set) var current: Token?
  /// Whether nothing of the work is wanted any more.
  private(set) var isCancelled = false

  /// The next piece begins.
  mutating func begin() -> Round {
    round.number += 1
    isRunning = true
    current = nil
    return round
  }

  /// The token of a piece is known. One whose piece has ended is not kept, and does not take the place of another. True
  /// where it is to be cancelled: a cancel that came before could not reach it.
  mutating func arrive(_ token: Token, of round: Round) -> Bool {
    guard isRunning, round == self.round else { return false }
    current = token
    return isCancelled
  }

  /// A piece has ended. The result is its token, to be let go outside the lock: it may keep alive what runs code of its
  /// own when it goes.
  mutating func end(_ round: Round) -> Token? {
    guard round == self.round else { return nil }
    isRunning = false
    return current.take()
  }

  /// Nothing is wanted any more. The result is the token to cancel.
  mutating func cancel() -> Token? {
    isCancelled = true
    return current
  }
}
