import KiiPushCore
import Testing

@Suite struct KiiURITests {
    @Test(arguments: [
        ("kiicloud://users/u-1", KiiURI.owner(.user("u-1"))), ("kiicloud://groups/g", .owner(.group("g"))),
        ("kiicloud://things/th.1", .owner(.thing("th.1"))),
        ("kiicloud://admins/APP_ADMIN", .administrator("APP_ADMIN")),
        ("kiicloud://topics/t", .topic(Topic("t"))),
        ("kiicloud://users/u/topics/t", .topic(Topic("t", in: .user("u")))),
        ("kiicloud://groups/g/topics/t", .topic(Topic("t", in: .group("g")))),
        ("kiicloud://things/th.1/topics/t", .topic(Topic("t", in: .thing("th.1")))),
        ("kiicloud://buckets/b", .bucket(Bucket("b"))),
        ("kiicloud://buckets/b/objects/o", .object(ObjectReference("o", in: Bucket("b")))),
        ("kiicloud://users/u/buckets/b/objects/o", .object(ObjectReference("o", in: Bucket("b", in: .user("u"))))),
        ("kiicloud://users/u%2Fx/topics/a%20b%C3%A9", .topic(Topic("a bé", in: .user("u/x")))),
    ])
    func readsAndWritesAddresses(text: String, address: KiiURI) {
        #expect(KiiURI(text) == address)
        #expect(address.description == text)
    }

    @Test func readsLowerCaseEncodingAndPlainUnicode() {
        #expect(KiiURI("kiicloud://topics/%c3%a9") == .topic(Topic("é")))
        #expect(KiiURI("kiicloud://topics/é") == .topic(Topic("é")))
    }

    @Test(arguments: [
        "", "kiicloud://", "kiicloud:/users/u", "https://users/u", "KIICLOUD://users/u", "kiicloud://users",
        "kiicloud://users/",
        "kiicloud://users//topics/t", "kiicloud://users/u/", "kiicloud://topics", "kiicloud://users/u/topics",
        "kiicloud://users/u/buckets/b/objects", "kiicloud://users/u/buckets/b/things/o", "kiicloud://robots/r",
        "kiicloud://topics/t/x", "kiicloud://admins/A/topics/t", "kiicloud://topics/%", "kiicloud://topics/%4",
        "kiicloud://topics/%zz", "kiicloud://topics/%FF", "kiicloud://users/u/users/v",
    ])
    func keepsOtherForms(_ text: String) {
        #expect(KiiURI(text) == .other(text))
        #expect(KiiURI(text).description == text)
    }
}
