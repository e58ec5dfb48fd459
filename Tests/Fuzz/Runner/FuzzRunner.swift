import FuzzTargets
import Glibc

/// Runs one target: `kii-push-fuzz TARGET [FILE ...]` replays inputs. `script/fuzz` builds it as libFuzzer's program
/// instead, which gets the target from the environment.
enum FuzzRunner {
    /// Names the target for libFuzzer, whose command line has no place for it.
    static let targetVariable = "KII_PUSH_FUZZ_TARGET"

    /// Traps if a claim fails, as libFuzzer expects.
    static func check(_ target: FuzzTarget, _ input: [UInt8]) {
        let violations = target.violations(input)
        guard violations.isEmpty else { fatalError("\(target.rawValue): " + violations.joined(separator: "; ")) }
    }
}

#if FUZZING

/// Read once: the environment does not change.
private let chosen = getenv(FuzzRunner.targetVariable).flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// libFuzzer calls this function with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let chosen else { fatalError("\(FuzzRunner.targetVariable) names no target") }
    FuzzRunner.check(chosen, Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

#else

@main
struct Replay {
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard let target = words.first.flatMap(FuzzTarget.init) else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: kii-push-fuzz \(names) [FILE ...]")
            exit(64)
        }
        for path in words.dropFirst() {
            guard let input = Self.read(path) else {
                print("kii-push-fuzz: cannot read \(path): \(String(cString: strerror(errno)))")
                exit(66)
            }
            print(path)
            FuzzRunner.check(target, input)
        }
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var input: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { input += chunk[..<count] }
        return ferror(file) == 0 ? input : nil
    }
}

#endif
