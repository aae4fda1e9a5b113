import Foundation
import TestSupport
import Testing

@testable import BatchFetch

@Suite(.timeLimit(.minutes(5))) struct QueuePlaceTests {
  private let queue = OperationQueue(width: 1)
  private let events = Recorder<String>()

  private func place(_ name: String, _ priority: Priority = .normal) -> QueuePlace {
    QueuePlace(priority: priority) { [events] in
      events.record("\(name) has left")
    } onTurn: { [events] in
      events.record(name)
    }
  }

  /// The next place gets its turn on another thread, perhaps before the exit of the last one is reported.
  private func turns(among events: [String]) -> [String] { events.filter { !$0.hasSuffix("has left") } }

  @Test func `A place counts against the limit from its turn until it leaves`() async {
    let (first, second) = (place("first"), place("second"))
    queue.addOperation(first)
    queue.addOperation(second)
    #expect(await events.values(count: 1) == ["first"])
    #expect(first.isExecuting && !second.isExecuting && queue.operationCount == 2)

    first.leave()
    #expect(await turns(among: events.values(count: 3)) == ["first", "second"])
    #expect(events.values.contains("first has left"))

    second.leave()
    #expect(events.values.last == "second has left" && queue.operationCount == 0)
  }

  @Test func `A place that leaves before its turn does not get it`() async {
    let (first, second, third) = (place("first"), place("second"), place("third"))
    for place in [first, second, third] { queue.addOperation(place) }
    _ = await events.values(count: 1)

    second.leave()
    #expect(events.values == ["first"] && !second.isFinished)

    first.leave()
    #expect(await turns(among: events.values(count: 4)) == ["first", "third"])
    #expect(events.values.contains("second has left"))
    #expect(second.isFinished)
    third.leave()
  }

  @Test func `A place that leaves before it is in the queue does not get its turn`() async {
    let (first, second) = (place("first"), place("second"))

    first.leave()
    #expect(events.values.isEmpty)

    queue.addOperation(first)
    queue.addOperation(second)
    #expect(await events.values(count: 2).sorted() == ["first has left", "second"])
    second.leave()
  }

  @Test func `A place leaves once`() async {
    let first = place("first")
    queue.addOperation(first)
    _ = await events.values(count: 1)

    for _ in 0..<3 { first.leave() }

    #expect(events.values == ["first", "first has left"])
  }

  @Test func `A place may leave within its turn`() async {
    let places = Recorder<QueuePlace>()
    let first = QueuePlace(priority: .normal) { [events] in
      events.record("first has left")
    } onTurn: {
      places.values[0].leave()
    }
    places.record(first)
    let second = place("second")

    queue.addOperation(first)
    queue.addOperation(second)

    #expect(await events.values(count: 2).sorted() == ["first has left", "second"])
    second.leave()
  }

  @Test func `A place has left its queue by the time this is reported`() async {
    let counts = Recorder<Int>()
    let place = QueuePlace(priority: .normal) { [queue] in
      counts.record(queue.operationCount)
    } onTurn: { [events] in
      events.record("turn")
    }
    queue.addOperation(place)
    _ = await events.values(count: 1)

    place.leave()

    #expect(counts.values == [0])
  }

  @Test func `A place that leaves while it gets its turn is free for another one`() async {
    let (count, turns, exits) = (2000, Counter(), Recorder<Int>())
    let places = (0..<count).map { number in
      QueuePlace(priority: .normal) {
        exits.record(number)
      } onTurn: {
        turns.next()
      }
    }

    await race(count) {
      places[$0].start()
    } against: {
      places[$0].leave()
    }

    #expect(places.allSatisfy { $0.isFinished && !$0.isExecuting })
    #expect(exits.values.sorted() == Array(0..<count))
    #expect(turns.value <= count)
  }

  @Test func `Places that leave their queue at any time leave once each, and the queue becomes empty`() async {
    let (count, turns, exits) = (500, Counter(), Recorder<Int>())
    let places = (0..<count).map { number in
      QueuePlace(priority: .normal) {
        exits.record(number)
      } onTurn: {
        turns.next()
      }
    }

    await race(count) { [queue] in
      queue.addOperation(places[$0])
    } against: {
      places[$0].leave()
    }

    #expect(await exits.values(count: count).sorted() == Array(0..<count))
    await eventually { queue.operationCount == 0 }
    #expect(turns.value <= count)
  }

  @Test func `Places get their turns by their latest priority, and in order if it is equal`() async {
    let first = place("first")
    let others = [
      place("low", .low), place("normal"), place("high", .high), place("raised", .low), place("lowered", .high),
      place("second normal"),
    ]
    queue.addOperation(first)
    _ = await events.values(count: 1)
    for place in others { queue.addOperation(place) }

    others[3].setPriority(.high)
    others[4].setPriority(.low)

    let names = ["first", "high", "raised", "normal", "second normal", "low", "lowered"]
    for (index, name) in names.enumerated() {
      #expect(await turns(among: events.values(count: 2 * index + 1)).last == name)
      ([first] + others).first { $0.isExecuting }?.leave()
    }
    #expect(queue.operationCount == 0)
  }
}
