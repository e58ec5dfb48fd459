import Foundation
import Glibc

// Kills, freezes, stops and starts gateways of one fleet while pushes come, and counts every message. `script/fleet`
// builds and calls this program. With `gateway` as its first argument it is one of the gateways.

@main
struct FleetRunner {
    static func main() async {
        #if Postgres
        let arguments = CommandLine.arguments.dropFirst()
        do {
            if arguments.first == "gateway" { exit(try await Gateway(arguments.dropFirst()).run()) }
            guard let options = TrialOptions(arguments) else {
                FileHandle.standardError.write(Data("\(TrialOptions.usage)\n".utf8))
                exit(64)
            }
            let outcome = try await FleetTrial(options).run()
            print(outcome.text)
            exit(outcome.isGood ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("script/fleet: \(error)\n".utf8))
            exit(1)
        }
        #else
        FileHandle.standardError.write(Data("script/fleet: built without PostgreSQL\n".utf8))
        exit(69)
        #endif
    }
}
