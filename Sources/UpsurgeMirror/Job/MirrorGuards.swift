import Upsurge

/// What must hold before a row is removed because a snapshot no longer has it.
public typealias MirrorGuards = DeliveryGuards
