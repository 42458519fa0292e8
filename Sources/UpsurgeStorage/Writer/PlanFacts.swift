import UpsurgePlan

/// What of a plan is asked for each record, asked once: a call into the plan's module is never inlined.
struct PlanFacts {
  /// See `UpsertPlan.looksUp`.
  let looksUp: Bool
  /// See `UpsertPlan.hasCondition`.
  let hasCondition: Bool
  /// See `UpsertPlan.mayIgnore`.
  let mayIgnore: Bool
  let isTable: Bool
  let isView: Bool

  init(_ plan: UpsertPlan) {
    looksUp = plan.looksUp
    hasCondition = plan.hasCondition
    mayIgnore = plan.mayIgnore
    isTable = plan.schema.kind == .table
    isView = plan.schema.kind == .view
  }
}
