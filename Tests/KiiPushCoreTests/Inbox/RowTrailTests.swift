import KiiPushCore
import Testing

@Suite struct RowTrailTests {
    private static let base = Timestamp.at(1000)

    private static func entry(_ event: RowTrail.Event, after milliseconds: Int64) -> RowTrail.Entry {
        RowTrail.Entry(event, at: base + .milliseconds(milliseconds))
    }

    /// The format on the disk: a change here is a change of the schema's version.
    static let golden: [(String, RowTrail.Entry)] = [
        ("d12", entry(.duplicate, after: 12)),
        ("q-5", entry(.requeued, after: -5)),
        ("x3,1", entry(.isolated(attempt: 1), after: 3)),
        (
            #"f1203,2,1199,5000"6:failed"#,
            entry(
                .failed(attempt: 2, startedAt: base + .milliseconds(1199), failure: "failed", pause: .seconds(5)),
                after: 1203)
        ),
        (
            #"f1,1,,1000"8:timedOut"#,
            entry(.failed(attempt: 1, startedAt: nil, failure: "timedOut", pause: .seconds(1)), after: 1)
        ),
        ("p7,1,6", entry(.presented(attempt: 1, startedAt: base + .milliseconds(6)), after: 7)),
        (
            #"k9,6,8"12:rejected: ü"#,
            entry(.dead(attempt: 6, startedAt: base + .milliseconds(8), reason: "rejected: ü"), after: 9)
        ),
        (#"k0,,"15:unexpectedTopic"#, entry(.dead(attempt: nil, startedAt: nil, reason: "unexpectedTopic"), after: 0)),
        (#"k0,,"0:"#, entry(.dead(attempt: nil, startedAt: nil, reason: ""), after: 0)),
        ("l31002,1,0", entry(.late(attempt: 1, .newData), after: 31_002)),
        ("l31002,3,1", entry(.late(attempt: 3, .noData), after: 31_002)),
    ]

    @Test(arguments: golden)
    func writesAndReadsTheDocumentedText(text: String, entry: RowTrail.Entry) {
        #expect(RowTrail.text(entry, receivedAt: Self.base) == text)
        #expect(RowTrail.read(text, receivedAt: Self.base) == .init(entries: [entry], isWhole: true))
    }

    @Test func readsManyEntriesInARow() {
        let reading = RowTrail.read(Self.golden.map(\.0).joined(), receivedAt: Self.base)
        #expect(reading == .init(entries: Self.golden.map(\.1), isWhole: true))
        #expect(RowTrail.read("", receivedAt: Self.base) == .init(entries: [], isWhole: true))
    }

    /// A text that is cut off anywhere still tells what is whole, and nothing else but numbers that were cut short.
    @Test func readsWhatIsLeftOfATextThatIsCut() {
        // Half a character is not half a text: this is about where the reader stops.
        let golden = Self.golden.filter { $0.0.allSatisfy(\.isASCII) }
        let text = Array(golden.map(\.0).joined().utf8)
        for count in 0..<text.count {
            let reading = RowTrail.read(String(decoding: text[..<count], as: UTF8.self), receivedAt: Self.base)
            let whole = reading.isWhole ? reading.entries.dropLast() : reading.entries[...]
            #expect(Array(whole) == golden.map(\.1).prefix(whole.count).map { $0 }, "\(count)")
        }
    }

    @Test(arguments: [
        "d", "z12", "d12,3", "d99999999999999999999", "d--1", "x1", "x1,", "p1,2", "l1,1,2", "l1,1,",
        #"k1,1,1"#, #"k1,1,1"x:abc"#, #"k1,1,1"4:abc"#, #"k1,1,1"-1:abc"#, #"k1,1,1"9223372036854775807:a"#,
        #"f1,1,1"3:abc"#, #"f1,,1,1"3:abc"#, #"f1,1,1,"3:abc"#, "\u{0}", "d1é",
    ])
    func stopsAtWhatItCannotHaveWritten(text: String) {
        let reading = RowTrail.read("q1" + text, receivedAt: Self.base)
        #expect(!reading.isWhole)
        #expect(reading.entries.first == Self.entry(.requeued, after: 1))
        #expect(reading.entries.count <= 2)
    }

    @Test func survivesTimesAtTheEndsOfTheCalendar() {
        let end = Timestamp(millisecondsSinceEpoch: .max)
        let entry = RowTrail.Entry(.requeued, at: end)
        #expect(RowTrail.read("q\(Int64.max)", receivedAt: end) == .init(entries: [entry], isWhole: true))
        let text = RowTrail.text(entry, receivedAt: Timestamp(millisecondsSinceEpoch: .min))
        #expect(RowTrail.read(text, receivedAt: end).isWhole)
    }
}
