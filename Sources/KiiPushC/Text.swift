import Glibc

/// The longest text from the program, in bytes; JSON may be as long.
private let longestText = 4 << 20

/// Reads a text from the program.
///
/// - Parameter name: the argument's name, for errors.
func text(_ start: UnsafePointer<CChar>?, _ length: Int, _ name: String) throws(CFailure) -> String {
    let bytes = try data(start, length, name, atMost: longestText)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .argument("\(name) is not UTF-8") }
    return text
}

/// Reads a text that ends with a zero.
func text(_ start: UnsafePointer<CChar>?, _ name: String) throws(CFailure) -> String {
    guard let start else { throw .argument("\(name) is null") }
    return try text(start, strnlen(start, longestText + 1), name)
}

/// Copies bytes from the program.
func data(
    _ start: UnsafePointer<CChar>?, _ length: Int, _ name: String, atMost limit: Int
) throws(CFailure) -> [UInt8] {
    // An unsigned length above half of the address space arrives as a negative number.
    guard (0...limit).contains(length) else { throw .argument("the length of \(name) is more than \(limit)") }
    guard let start else { throw .argument("\(name) is null") }
    return Array(UnsafeRawBufferPointer(start: start, count: length))
}

/// Checks a pointer through which the function returns a value.
func required<Value>(
    _ pointer: UnsafeMutablePointer<Value>?, _ name: String
) throws(CFailure) -> UnsafeMutablePointer<Value> {
    guard let pointer else { throw .argument("\(name) is null") }
    return pointer
}

/// A copy with a final zero, to be released with `free`.
func duplicate(_ bytes: some Collection<UInt8>) throws(CFailure) -> UnsafeMutablePointer<CChar> {
    guard let memory = malloc(bytes.count + 1) else { throw .state("there is no memory for what is to be handed out") }
    let buffer = UnsafeMutableRawBufferPointer(start: memory, count: bytes.count + 1)
    buffer.copyBytes(from: bytes)
    buffer[bytes.count] = 0
    return memory.assumingMemoryBound(to: CChar.self)
}
