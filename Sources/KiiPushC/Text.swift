import Glibc

/// In bytes; also the limit for JSON.
private let longestText = 4 << 20

func text(_ start: UnsafePointer<CChar>?, _ length: Int, _ name: String) throws(CFailure) -> String {
    let bytes = try data(start, length, name, atMost: longestText)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .argument("\(name) is not UTF-8") }
    return text
}

/// For a text that ends with a zero.
func text(_ start: UnsafePointer<CChar>?, _ name: String) throws(CFailure) -> String {
    guard let start else { throw .argument("\(name) is null") }
    return try text(start, strnlen(start, longestText + 1), name)
}

func data(
    _ start: UnsafePointer<CChar>?, _ length: Int, _ name: String, atMost limit: Int
) throws(CFailure) -> [UInt8] {
    // A length above `Int.max` arrives as a negative number.
    guard (0...limit).contains(length) else { throw .argument("the length of \(name) is more than \(limit)") }
    guard let start else { throw .argument("\(name) is null") }
    return Array(UnsafeRawBufferPointer(start: start, count: length))
}

func required<Value>(
    _ pointer: UnsafeMutablePointer<Value>?, _ name: String
) throws(CFailure) -> UnsafeMutablePointer<Value> {
    guard let pointer else { throw .argument("\(name) is null") }
    return pointer
}

/// Adds a final zero. The caller frees the copy with `free`.
func duplicate(_ bytes: some Collection<UInt8>) throws(CFailure) -> UnsafeMutablePointer<CChar> {
    guard let memory = malloc(bytes.count + 1) else { throw .state("not enough memory for the result") }
    let buffer = UnsafeMutableRawBufferPointer(start: memory, count: bytes.count + 1)
    buffer.copyBytes(from: bytes)
    buffer[bytes.count] = 0
    return memory.assumingMemoryBound(to: CChar.self)
}
