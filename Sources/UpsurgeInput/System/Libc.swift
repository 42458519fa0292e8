#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// C functions whose names a Swift method of ours hides; each maps one to one.

func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}

/// pread(2): leaves the descriptor's own offset where it is.
func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: off_t) -> Int {
  pread(descriptor, buffer.baseAddress, buffer.count, offset)
}

func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(descriptor, buffer.baseAddress, buffer.count)
}

func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

/// Asks the kernel to read ahead; a hint only, so a failure is of no interest.
func adviseSequentialReading(_ descriptor: Int32) {
  #if os(Linux)
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  #endif
}

extension stat {
  var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
  var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
  var isNamedPipe: Bool { st_mode & S_IFMT == S_IFIFO }

  /// Of the last change of the content, in nanoseconds since 1970.
  var modificationTime: Int64 {
    #if canImport(Darwin)
      let time = st_mtimespec
    #else
      let time = st_mtim
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Of the last change of the file itself, which no program can set back.
  var changeTime: Int64 {
    #if canImport(Darwin)
      let time = st_ctimespec
    #else
      let time = st_ctim
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// stat(2); nil with `errno` set.
  init?(path: String) {
    self.init()
    if stat(path, &self) != 0 { return nil }
  }

  /// fstat(2); nil with `errno` set.
  init?(descriptor: Int32) {
    self.init()
    if fstat(descriptor, &self) != 0 { return nil }
  }
}

/// The directory that relative paths start at; nil when it is gone.
func currentDirectory() -> String? {
  guard let path = getcwd(nil, 0) else { return nil }
  defer { free(path) }
  return String(cString: path)
}
