import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let commands: [ClientCall] = [
        ClientCall(id: "commands.get", method: "command(_:of:)") { client, _ in
            let command = try await client.session(testToken).command("c1", of: "th.1")
            #expect(command.commandID == "c1" && command.state == "DONE")
            #expect(command.actions == [["turnPower": ["power": true]]])
            #expect(command.results == [ThingActionResult("turnPower", succeeded: true)])
            #expect(command.createdAt == Timestamp(millisecondsSinceEpoch: 7))
            #expect(command.modifiedAt == Timestamp(millisecondsSinceEpoch: 9))
            #expect(command.fields["issuer"] == "user:u1" && command.fields["schemaVersion"] == 1)
        },
        ClientCall(
            id: "commands.get",
            method: "command(_:of:)",
            note: "by traits, before the thing has answered",
            reply: ["commandID": "c1", "commandState": "ON_ITS_WAY", "actions": [["lamp": [["turnPower": true]]]]]
        ) { client, _ in
            let command = try await client.session(testToken).command("c1", of: "th.1")
            #expect(command.state == "ON_ITS_WAY")
            #expect(command.results.isEmpty && command.createdAt == nil && command.fields == [:])
        },
        ClientCall(id: "commands.report", method: "report(_:of:thing:)") { client, _ in
            let result = ThingActionResult("turnPower", succeeded: true)
            try await client.session(testToken).report([result], of: "c1", thing: "th.1")
        },
        ClientCall(id: "commands.reportByTraits", method: "report(_:of:thing:)") { client, _ in
            let results = [
                ThingActionResult("turnPower", alias: "lampAlias", succeeded: true),
                ThingActionResult(
                    "setBrightness", alias: "lampAlias", succeeded: false, errorMessage: "too bright"),
            ]
            try await client.session(testToken).report(results, of: "c1", thing: "th.1")
        },
        ClientCall(
            id: "commands.reportByTraits",
            method: "report(_:of:thing:)",
            note: "with two aliases in turn",
            body: [
                "actionResults": [
                    ["x": [["a": ["succeeded": true]], ["c": ["succeeded": true, "data": ["n": 1]]]]],
                    ["y": [["b": ["succeeded": true]]]],
                ]
            ]
        ) { client, _ in
            let results = [
                ThingActionResult("a", alias: "x", succeeded: true),
                ThingActionResult("b", alias: "y", succeeded: true),
                ThingActionResult("c", alias: "x", succeeded: true, data: ["n": 1]),
            ]
            try await client.session(testToken).report(results, of: "c1", thing: "th.1")
        },
    ]
}
