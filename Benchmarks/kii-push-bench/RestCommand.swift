import Glibc
import KiiPushCore

/// `rest URL COUNT CONCURRENT`: GETs through the library's loop. Prints `requests=N seconds=S cpu=S`.
enum RestCommand {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 3, let count = Int(arguments[1]), let concurrent = Int(arguments[2]) else {
            throw ChildProcess.Failure(description: "usage: rest URL COUNT CONCURRENT")
        }
        let loop = try EventLoop()
        let request = HTTPRequest(
            method: "GET",
            url: arguments[0],
            fields: [HTTPField("Authorization", "Bearer 0123456789abcdef")]
        )
        let (cpu, start) = (processCPUSeconds(), monotonicSeconds())
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<concurrent {
                let share = count / concurrent + (index < count % concurrent ? 1 : 0)
                group.addTask {
                    var bytes = 0
                    for _ in 0..<share { bytes += try await loop.perform(request).body.count }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
        let seconds = monotonicSeconds() - start
        print("requests=\(count) seconds=\(seconds) cpu=\(processCPUSeconds() - cpu)")
        loop.shutdown()
        guard bytes == count * 230 else { throw ChildProcess.Failure(description: "\(bytes) bytes of bodies") }
    }
}
