import KiiPushCore
import Testing

@Suite struct SecretTests {
    @Test func printsNothingOfItsText() {
        let secret: Secret = "hunter2"
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, String(describing: [secret])] {
            #expect(!text.contains("hunter2"))
        }
        #expect(secret.reveal() == "hunter2")
    }
}

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_463_363_201_908, "2016-05-16T01:46:41.908Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (.min, "-292275055-05-16T16:47:04.192Z"),
        (.min + 1, "-292275055-05-16T16:47:04.193Z"),
        (.max, "292278994-08-17T07:12:55.807Z"),
    ])
    func printsAsRFC3339(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description == text)
    }
}

@Suite struct TimeArithmeticTests {
    private static let endless: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.max) + .milliseconds(999), .milliseconds(Int64.max),
    ]

    @Test(arguments: [0, 1_463_363_201_908, .max, .min])
    func aSumBeyondTheCalendarStaysAtItsEnd(milliseconds: Int64) {
        let moment = Timestamp(millisecondsSinceEpoch: milliseconds)
        for duration in Self.endless + [.milliseconds(1)] {
            #expect((moment + duration).millisecondsSinceEpoch >= milliseconds)
            #expect((moment + (.zero - duration)).millisecondsSinceEpoch <= milliseconds)
        }
    }

    @Test(
        arguments: [
            (.seconds(9_223_372_036), 9_223_372_036_000), (.seconds(1_000_000_000_000), 1_000_000_000_000_000),
            (.milliseconds(-1), -1), (.microseconds(1999), 1), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func centuriesAreAddedInFull(duration: Duration, milliseconds: Int64) {
        let sum = Timestamp(millisecondsSinceEpoch: 0) + duration
        #expect(sum.millisecondsSinceEpoch == milliseconds)
    }

    @Test func anInstantBeyondTheClockStaysAtItsEnd() {
        let late = MonotonicInstant(nanoseconds: .max - 1)
        let early = MonotonicInstant(nanoseconds: .min + 1)
        for duration in Self.endless {
            #expect(late + duration == MonotonicInstant(nanoseconds: .max))
            #expect(early + (.zero - duration) == MonotonicInstant(nanoseconds: .min))
        }
        #expect(late - early == .nanoseconds(Int64.max))
        #expect(early - late == .nanoseconds(Int64.min))
    }
}

@Suite struct TopicTests {
    @Test(arguments: ["a", "A-b_9", String(repeating: "x", count: 64)])
    func acceptsLegalNames(_ id: String) { #expect(Topic.isValidID(id)) }

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "x", count: 65)])
    func refusesOtherNames(_ id: String) { #expect(!Topic.isValidID(id)) }
}

@Suite struct StringBytesTests {
    @Test(arguments: [
        ("a%b%c", "%", "a%%b%%c"), ("%%", "%", "%%%%"), ("%\u{301}", "%", "%%\u{301}"), ("\r\n", "\n", "\r\n\n"),
        ("aaa", "aa", "aaaaa"), ("abc", "d", "abc"), ("", "a", ""), ("abc", "", "abc"),
    ])
    func replacesByDoubling(text: String, word: String, doubled: String) {
        let replaced = text.replacing(bytesOf: word, with: word + word)
        #expect(Array(replaced.utf8) == Array(doubled.utf8))
        #expect(text.contains(bytesOf: word) == (text != doubled))
    }

    @Test func findsTheFirstAndTheLastPlace() {
        let text = "ä: b: c"
        #expect(text.firstRange(bytesOf: ": ").map { text[$0.upperBound...] } == "b: c")
        #expect(text.lastRange(bytesOf: ": ").map { text[$0.upperBound...] } == "c")
        #expect(text.lastRange(bytesOf: "d") == nil)
    }
}
