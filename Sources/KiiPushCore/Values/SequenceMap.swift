/// A map from sequence numbers to values, faster than a dictionary if consecutive numbers are used together. It keeps
/// values in pages of 256 numbers, and frees a page when its last value is removed.
package struct SequenceMap<Value> {
    struct Page {
        var number: Int64
        var values: [Value?]
        var count = 0
    }

    private static var bits: Int64 { 8 }
    private static var size: Int { 1 << self.bits }

    private var places: [Int64: Int] = [:]
    private var pages: [Page] = []
    private var freePlaces: [Int] = []
    private var latest: (number: Int64, place: Int)?
    package private(set) var count = 0

    package init() {}

    package subscript(sequence: Int64) -> Value? {
        get {
            guard let place = self.place(of: sequence >> Self.bits) else { return nil }
            return self.pages[place].values[Self.slot(of: sequence)]
        }
        set {
            let number = sequence >> Self.bits
            guard let place = self.place(of: number) ?? (newValue == nil ? nil : self.makePage(number)) else { return }
            self.latest = (number, place)
            let slot = Self.slot(of: sequence)
            let change = (newValue == nil ? 0 : 1) - (self.pages[place].values[slot] == nil ? 0 : 1)
            self.pages[place].values[slot] = newValue
            self.pages[place].count += change
            self.count += change
            if self.pages[place].count == 0 { self.removePage(at: place) }
        }
    }

    package func forEach(_ body: (Int64, Value) throws -> Void) rethrows {
        for page in self.pages where page.count > 0 {
            for (slot, value) in page.values.enumerated() {
                if let value { try body(page.number << Self.bits + Int64(slot), value) }
            }
        }
    }

    private static func slot(of sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence) & (self.size - 1) }

    private func place(of number: Int64) -> Int? {
        if let latest = self.latest, latest.number == number { return latest.place }
        return self.places[number]
    }

    private mutating func makePage(_ number: Int64) -> Int {
        let page = Page(number: number, values: Array(repeating: nil, count: Self.size))
        let place = self.freePlaces.popLast() ?? self.pages.count
        if place < self.pages.count { self.pages[place] = page } else { self.pages.append(page) }
        self.places[number] = place
        return place
    }

    private mutating func removePage(at place: Int) {
        self.places[self.pages[place].number] = nil
        self.pages[place].values = []
        self.freePlaces.append(place)
        self.latest = nil
    }
}

extension SequenceMap: Sendable where Value: Sendable {}
extension SequenceMap.Page: Sendable where Value: Sendable {}
