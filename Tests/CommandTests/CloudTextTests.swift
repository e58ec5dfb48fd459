import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// Text from the cloud can neither control the terminal nor break a list's lines.
@Suite(.ownThreads) struct CloudTextTests {
    /// Clears the screen, reverses the direction of writing, and starts a new line.
    private static let hostile = "evil\u{1b}[2J\u{202e}\nx"
    private static let shown = #"evil\u001b[2J\u202e\nx"#

    /// A registered profile, and the options that point it to a cloud with these topics.
    private static func cloud(topics: [String]) throws -> (world: DoctorWorld, cloud: FakeCloud, options: [String]) {
        let world = try DoctorWorld()
        try world.register("default")
        let list: JSONValue = ["topics": JSONValue(topics.map { ["topicID": JSONValue($0)] })]
        let sent: JSONValue = ["pushMessageID": JSONValue(Self.hostile)]
        let object: JSONValue = ["objectID": JSONValue(Self.hostile), "createdAt": 1, "dataType": "application/json"]
        let cloud = try FakeCloud { request in
            func answer(_ status: Int, _ body: JSONValue) -> FakeCloud.Answer {
                FakeCloud.Answer(status: status, body: String(decoding: body.serialized(), as: UTF8.self))
            }
            // The app's topics; its users have none.
            if request.path.hasSuffix("/topics") {
                return answer(200, request.path.contains("/users/") ? ["topics": []] : list)
            }
            if request.path.hasSuffix("/push/messages") { return answer(201, sent) }
            if request.path.hasSuffix("/objects") { return answer(201, object) }
            return FakeCloud.Answer(status: 204)
        }
        try world.move("default", to: cloud.baseURL)
        let key = try world.tool.write("key", to: "any-key")
        let appID = try #require(world.file["appID"]?.string)
        return (world, cloud, ["--base-url", cloud.baseURL, "--app-id", appID, "--app-key-file", key])
    }

    @Test func idsAreEscapedForPeopleAndExactForPrograms() throws {
        let (world, cloud, options) = try Self.cloud(topics: ["alerts", Self.hostile])
        for (command, line) in [
            (["send", "topic", "alerts", "--data", "{}"], "sent \(Self.shown) to topic alerts"),
            (["send", "user", "me", "--data", "{}"], "sent \(Self.shown) to user "),
            (["send", "object", "news", "--data", "{}"], "created object \(Self.shown) in bucket news\n"),
        ] {
            let people = try world.tool.start(command + options).waitForExit()
            #expect(people.exit == 0, "\(command): \(people.error)")
            #expect(people.output.hasPrefix(line), "\(command)")
            let program = try world.tool.start(command + options + ["--json"]).waitForExit()
            let last = try #require(program.output.split(separator: "\n").last)
            let object = try JSONValue(parsing: Array(last.utf8))
            #expect(object["id"]?.string ?? object["name"]?.string == Self.hostile, "\(command)")
        }
        withExtendedLifetime(cloud) {}
    }

    @Test func aTopicThatNobodyCanAskAboutIsLeftOut() throws {
        let (world, cloud, options) = try Self.cloud(topics: [Self.hostile, "alerts"])
        try world.tool.write(
            #"{"version":1,"profiles":{"default":{"subscriptions":{"topics":["alerts"]}}}}"#,
            to: "config/kii-push/config.json")
        let result = try world.tool.start(["subscriptions"] + options).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output == "alerts\n")
        let warning = "warning: the cloud lists a topic whose ID cannot be one, which is left out: \(Self.shown)\n"
        #expect(result.error.hasPrefix(warning), "\(result.error)")
        withExtendedLifetime(cloud) {}
    }
}
