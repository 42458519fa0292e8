// Options, ledgers and errors are those of the engine; a program imports one module.
@_exported import Upsurge
