import KiiPushCore

/// The unfinished calls of handlers.
///
/// The last bits of a call's number are its index in `places`, so finding a call needs no hash. ``add(after:_:)`` skips
/// a number whose place is in use.
struct HandlerCalls {
    private var places: [HandlerCall?] = Array(repeating: nil, count: 64)
    private var count = 0

    private func place(of number: UInt64) -> Int { Int(truncatingIfNeeded: number) & (self.places.count - 1) }

    /// - Parameter last: the last number used; set to the new call's.
    /// - Returns: calls that are too late to answer, for the caller to release.
    mutating func add(after last: inout UInt64, _ make: (UInt64) -> HandlerCall) -> [HandlerCall] {
        let over = self.count < self.places.count / 2 ? [] : self.makeRoom()
        repeat { last += 1 } while self.places[self.place(of: last)] != nil
        self.places[self.place(of: last)] = make(last)
        self.count += 1
        return over
    }

    /// Changes the call with this number, and removes a call that is then done. Returns `nil` if there is no such call.
    mutating func change<Result>(_ number: UInt64, _ body: (inout HandlerCall) -> Result) -> Result? {
        let place = self.place(of: number)
        guard self.places[place]?.number == number else { return nil }
        defer { if self.places[place]?.isDone == true { self.remove(at: place) } }
        return self.places[place]?.change(body)
    }

    /// Returns the completions of a runtime's calls, for the caller to release. A call stays in `places` until its
    /// handler returns.
    mutating func end(_ runtime: ObjectIdentifier) -> [FetchCompletion] {
        self.places.indices.compactMap { place in
            guard let call = self.places[place], call.runtime == runtime else { return nil }
            return self.change(call.number) { $0.takeCompletion() } ?? nil
        }
    }

    private mutating func makeRoom() -> [HandlerCall] {
        let now = MonotonicInstant.now()
        var over: [HandlerCall] = []
        for place in self.places.indices {
            guard let call = self.places[place], call.isOver(at: now) else { continue }
            over.append(call)
            self.remove(at: place)
        }
        if self.count >= self.places.count / 4 { self.grow() }
        return over
    }

    private mutating func remove(at place: Int) {
        self.places[place] = nil
        self.count -= 1
    }

    /// No two calls share a place afterwards.
    private mutating func grow() {
        let calls = self.places.compactMap(\.self)
        self.places = Array(repeating: nil, count: 2 * self.places.count)
        for call in calls { self.places[self.place(of: call.number)] = call }
    }
}
