import KiiPushCore
import Testing

@Suite struct SipHashTests {
    /// From the reference's `vectors_sip128`: the message is the bytes 0, 1, …; the key is the bytes 0 to 15.
    private static let vectors: [(Int, String)] = [
        (0, "A3817F04BA25A8E66DF67214C7550293"), (1, "DA87C1D86B99AF44347659119B22FC45"),
        (2, "8177228DA4A45DC7FCA38BDEF60AFFE4"), (7, "A1F1EBBED8DBC153C0B84AA61FF08239"),
        (8, "3B62A9BA6258F5610F83E264F31497B4"), (9, "264499060AD9BAABC47F8B02BB6D71ED"),
        (15, "5493E99933B0A8117E08EC0F97CFC3D9"), (16, "6EE2A4CA67B054BBFD3315BF85230577"),
        (17, "473D06E8738DB89854C066C47AE47740"), (63, "5150D1772F50834A503E069A973FBD7C"),
    ]

    private static let key = SipHash.Key(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

    private static func text(_ digest: SipHash.Digest) -> String {
        [digest.low, digest.high].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    @Test(arguments: Self.vectors)
    func isThatOfTheReference(count: Int, digest: String) {
        let bytes = (0..<UInt8(count)).map { $0 }
        for split in 0...count {
            var hash = SipHash(key: Self.key)
            bytes[..<split].withUnsafeBytes { hash.append($0) }
            bytes[split...].withUnsafeBytes { hash.append($0) }
            #expect(Self.text(hash.finish()) == digest)
        }
    }

    @Test func dependsOnTheKey() {
        #expect(SipHash(key: .random()).finish() != SipHash(key: .random()).finish())
    }
}
