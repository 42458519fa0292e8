#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Source {
  /// What distinguishes it from other sources, however it was spelled: in records of runs, locks and feeds. The path from the root
  /// without links; of a glob, and of what is not there, that of the folder with the rest after it. `-` for standard input;
  /// a URL or command as it may be shown.
  package var place: String {
    switch opening {
    case .standardInput: return SourceName.standardInput
    // Of a database the rows are part of the name.
    case .database: return DatabaseSource(name).map { $0.name(path: SourceName.place(of: $0.path)) } ?? name
    case .url, .command, .server, .program: return name
    case .file(let path): return SourceName.path(of: path)
    }
  }

  /// The source with its path in a folder, where that is a relative one.
  /// - Parameter folder: with a slash at its end; empty for the working folder.
  package func starting(in folder: String) -> Source {
    switch opening {
    case .file(let path):
      return path.hasPrefix("/") ? self : Source(folder + path, shown: folder + label)
    case .database(_, let rows?):
      if rows.path.hasPrefix("/") { return self }
      let mark = Opening.databaseMark
      // What is shown begins in the same way, unless that is a secret.
      let isSame = label.utf8.starts(with: mark.utf8)
      return Source(
        rows.name(path: folder + rows.path),
        shown: isSame ? mark + folder + label.dropFirst(mark.count) : label)
    case .standardInput, .url, .command, .database, .server, .program: return self
    }
  }

  /// What the system says of the file or of standard input; nil for a feed, and for what is not there.
  var status: stat? {
    switch opening {
    case .file(let path): stat(path: path)
    case .standardInput: stat(descriptor: STDIN_FILENO)
    case .url, .command, .database, .server, .program: nil
    }
  }

  /// How long it is, as a regular file, also as standard input; nil for anything else.
  package var byteCount: UInt64? { status.flatMap { $0.isRegular ? UInt64(max($0.st_size, 0)) : nil } }

  /// Whether what it stands for is gone once it was read: standard input, a named pipe, a device.
  package var isReadOnce: Bool {
    switch opening {
    case .standardInput: return true
    case .file: return status.map { !$0.isRegular && !$0.isDirectory } ?? false
    case .url, .command, .database, .server, .program: return false
    }
  }

  /// Whether it may keep its reader waiting: all but regular files and rows of a database.
  package var isSlow: Bool {
    switch opening {
    case .database, .server: return false
    case .url, .command, .program: return true
    case .file, .standardInput: return status.map { !$0.isRegular && !$0.isDirectory } ?? false
    }
  }
}
