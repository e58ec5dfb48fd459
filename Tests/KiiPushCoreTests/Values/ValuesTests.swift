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
    ])
    func printsAsRFC3339(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description == text)
    }
}

@Suite struct TopicTests {
    @Test(arguments: ["a", "A-b_9", String(repeating: "x", count: 64)])
    func acceptsLegalNames(_ id: String) { #expect(Topic.isValidID(id)) }

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "x", count: 65)])
    func refusesOtherNames(_ id: String) { #expect(!Topic.isValidID(id)) }
}
