import Foundation

/// `foundation-decode JSONDecoder|JSONSerialization PAYLOAD-FILE COUNT`: Foundation's decoders for the decoding
/// benchmark. This separate program keeps Foundation out of the process that measures `ReceivedMessage`. Prints
/// `time=S`, for one payload.
@main
enum FoundationDecode {
    /// The payload as a program would declare it, with only the keys that the program needs.
    struct Message: Decodable {
        struct Reading: Decodable {
            var bar: Double
            var at: String
        }
        var appID: String
        var sender: String
        var senderURI: String
        var objectScopeAppID: String
        var objectScopeUserID: String
        var objectScopeType: String
        var topic: String
        var type: String
        var origin: String
        var when: Int64
        var text: String
        var level: Int
        var reading: Reading
    }

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]) else {
            print("usage: foundation-decode JSONDecoder|JSONSerialization PAYLOAD-FILE COUNT")
            exit(64)
        }
        let payload = try Data(contentsOf: URL(filePath: arguments[2]))
        let decoder = JSONDecoder()
        var sum = 0
        let start = ContinuousClock.now
        for _ in 0..<count {
            if arguments[1] == "JSONDecoder" {
                let message = try decoder.decode(Message.self, from: payload)
                sum += message.topic.utf8.count + message.sender.utf8.count + message.text.utf8.count + message.level
            } else {
                sum += (try JSONSerialization.jsonObject(with: payload) as? [String: Any])?.count ?? 0
            }
        }
        print("time=\((ContinuousClock.now - start) / .seconds(1) / Double(count)) sum=\(sum)")
    }
}
