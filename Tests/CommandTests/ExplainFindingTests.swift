import KiiPushCore
import TestTraits
import Testing

/// Payloads with one wrong member, and payloads whose kind depends on a custom key.
@Suite(.ownThreads) struct ExplainFindingTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"x"},"to":"bob"}"#, "pushToUser", "/to"),
        (#"{"aps":{"alert":"x"},"bi":"blue","n":1}"#, "pushToApp", "/bi"),
        (#"{"aps":{"alert":"x"},"om":"nom"}"#, "pushToApp", "/om"),
    ])
    func findsAKeyThatMakesItAnotherKind(payload: String, kind: String, pointer: String) throws {
        let (object, result) = try self.tool.explanation(payload)
        #expect(result.exit == 0)
        #expect(object["kind"]?.string == kind)
        let found = object["findings"]?.array?.contains {
            $0["code"]?.string == "kind-ambiguous" && $0["pointer"]?.string == pointer
        }
        #expect(found == true, "\(object["findings"]?.text ?? "")")
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"x","badge":"1"}}"#, "aps-wrong-type", "/aps/badge"),
        (#"{"aps":{"content-available":"1"}}"#, "aps-wrong-type", "/aps/content-available"),
        (#"{"aps":{"alert":"x"},"s":{"name":"bob"}}"#, "field-value", "/s"),
    ])
    func aMemberOfTheWrongTypeIsAFindingAndNoRefusal(payload: String, code: String, pointer: String) throws {
        let (object, result) = try self.tool.explanation(payload)
        #expect(result.exit == 0, "\(result.error)")
        #expect(object["refused"] == nil)
        let found = object["findings"]?.array?.contains {
            $0["code"]?.string == code && $0["pointer"]?.string == pointer
        }
        #expect(found == true, "\(object["findings"]?.text ?? "")")
    }

    @Test(arguments: [
        (#"{"aps":{"content-available":0,"alert":"x"}}"#, "Here: it is not woken."),
        (#"{"aps":{"content-available":false,"alert":"x"}}"#, "Here: it is not woken."),
        (#"{"aps":{"content-available":1}}"#, "Here: it is woken."),
        (#"{"aps":{"mutable-content":0,"alert":"x"}}"#, "Here: it may not."),
        (#"{"aps":{"alert":{"body":"x","show-view":false}}}"#, "Here: it is not."),
    ])
    func saysWhatTheValueOfAFlagMeans(payload: String, expected: String) throws {
        let result = try self.tool("explain", input: payload)
        #expect(result.output.contains(expected), "\(result.output)")
    }

    @Test func saysWhereAMisplacedKeyBelongs() throws {
        let result = try self.tool("explain", input: #"{"aps":{"body":"x"},"thread-id":"t"}"#)
        #expect(result.output.contains("it belongs into alert"), "\(result.output)")
        #expect(result.output.contains("it belongs into aps"), "\(result.output)")
    }

    @Test func listsWhatIsLeftOutAmongWhatIsIgnored() throws {
        let result = try self.tool("explain", input: #"{"aps":{"alert":"x","badge":"1"},"s":{"a":1}}"#)
        #expect(result.exit == 0)
        #expect(
            result.output.contains(
                #"""
                ignored
                  /aps/badge             "1"
                      left out: "/aps/badge" is a string, not a whole number
                  /s                     {"a":1}
                      an object is no value of a field, though the key counts for the kind

                """#), "\(result.output)")
    }
}
