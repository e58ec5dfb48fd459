import Glibc
import KiiPushCore

/// Runs the code of Documentation/messages.md on a payload: `MessageTour topic '{"topic":…}'`.
@main
struct MessageTour {
    static func main() throws {
        guard CommandLine.arguments.count == 3 else {
            print("usage: MessageTour topic|bucket|direct|aps|fields|custom|odd|refused PAYLOAD")
            exit(64)
        }
        let payload = CommandLine.arguments[2]
        if CommandLine.arguments[1] == "refused" { return print(reasonToRefuse(payload)) }
        let message = try ReceivedMessage(payload: Array(payload.utf8))
        switch CommandLine.arguments[1] {
        case "topic": showTopic(message)
        case "bucket": showChange(message)
        case "direct": showDirectPush(message)
        case "aps": showContent(message)
        case "fields": showFields(message)
        case "custom": try showDinner(message)
        default: showWhatIsLeftOut(message)
        }
    }
}

func show(_ name: String, _ value: Any?) { print("\(name):", value.map { "\($0)" } ?? "nil") }
