import KiiPushCore
import TestSupport
import Testing

@Suite struct KiiCommandTests {
    private static func reply(_ results: String) -> String {
        #"{"commandID":"c1","commandState":"INCOMPLETE","actions":[],"actionResults":\#(results)}"#
    }

    private func read(_ reply: String) async -> Result<KiiCommand, any Error> {
        await exchange(.status(200, reply)) { try await $0.session(testToken).command("c1", of: "th.1") }.result
    }

    @Test func resultsAreReadByActionAndByAlias() async throws {
        let done = #"{"succeeded":true,"errorMessage":null}"#
        let failed = #"{"succeeded":false,"errorMessage":"hot","data":{"n":1}}"#
        let flat = try await self.read(Self.reply(#"[{"a":\#(done)},{"b":\#(failed)}]"#)).get()
        #expect(
            flat.results == [
                ThingActionResult("a", succeeded: true),
                ThingActionResult("b", succeeded: false, errorMessage: "hot", data: ["n": 1]),
            ])
        let nested = try await self.read(Self.reply(#"[{"x":[{"a":\#(done)}]},{"y":[{"b":\#(failed)}]}]"#)).get()
        #expect(
            nested.results == [
                ThingActionResult("a", alias: "x", succeeded: true),
                ThingActionResult("b", alias: "y", succeeded: false, errorMessage: "hot", data: ["n": 1]),
            ])
    }

    @Test(arguments: [
        ReplyRow("{}", "/commandID", .missing), ReplyRow(#"{"commandID":"c1"}"#, "/commandState", .missing),
        ReplyRow(#"{"commandID":"c1","commandState":"DONE"}"#, "/actions", .missing),
        ReplyRow(reply("{}"), "/actionResults", .kind(.array)),
        ReplyRow(reply("[7]"), "/actionResults/0", .kind(.object)),
        ReplyRow(reply(#"[{"a":7}]"#), "/actionResults/0/a", .kind(.object)),
        ReplyRow(reply(#"[{"a":{}}]"#), "/actionResults/0/a/succeeded", .missing),
        ReplyRow(reply(#"[{"x":[{"a":{"succeeded":7}}]}]"#), "/actionResults/0/x/0/a/succeeded", .noFlag),
        ReplyRow(reply(#"[{"x":[{"a":[]}]}]"#), "/actionResults/0/x/0/a", .kind(.object)),
    ])
    func aBadReplyIsNamedByItsPlace(_ row: ReplyRow) async {
        let result = await self.read(row.reply)
        let error = #expect(throws: KiiResponseError.self) { try result.get() }
        #expect(error?.pointer == JSONPointer(row.pointer))
        #expect(error?.rule == row.rule)
    }
}
