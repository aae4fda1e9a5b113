internal import CCurl
internal import Synchronization

/// The thread that owns libcurl's multi handle and every exchange on it. Others only leave commands, and wake it.
final class CurlEventLoop: Sendable {
  typealias TransferID = UInt64

  enum Command: Sendable {
    case start(TransferID, TransferRequest, any TransferReceiver)
    case cancel(TransferID)
    case stop
  }

  /// libcurl documents `curl_multi_wakeup` as the one call that any thread may make; the others are made by `run`.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer?
  private let commands = Mutex<[Command]>([])
  private let lastID = Atomic<TransferID>(0)

  /// libcurl sets up its global state once a process.
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init() { multi = Self.isReady ? curl_multi_init() : nil }

  deinit { curl_multi_cleanup(multi) }

  func makeID() -> TransferID { lastID.add(1, ordering: .relaxed).newValue }

  /// Leaves a command for the loop. Callable from any thread.
  func post(_ command: Command) {
    let wasEmpty = commands.withLock { commands in
      commands.append(command)
      return commands.count == 1
    }
    if wasEmpty { curl_multi_wakeup(multi) }
  }

  /// Runs until a `stop`. Everything that touches libcurl happens here, on one thread.
  func run() {
    var transfers = CurlTransferTable(multi: multi)
    while obey(takeCommands(), on: &transfers) {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      transfers.endFinished()
      let wait = transfers.expire(at: .now)
      curl_multi_poll(multi, nil, 0, Int32(clamping: wait.milliseconds), nil)
    }
    transfers.endAll(FetchFailure.cancelled)
  }

  private func takeCommands() -> [Command] {
    commands.withLock { commands in
      defer { commands.removeAll(keepingCapacity: true) }
      return commands
    }
  }

  /// False after a `stop`.
  private func obey(_ commands: [Command], on transfers: inout CurlTransferTable) -> Bool {
    for command in commands {
      switch command {
      case .start(let id, let request, let receiver): transfers.start(id, request, receiver)
      case .cancel(let id): transfers.end(id, .cancelled)
      case .stop: return false
      }
    }
    return true
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
