/**
 * What the runs of a flow may start. The limits apply to the tree below a run that a client or a
 * schedule has started: its children, their children, and so on.
 */
export interface ChildRuns {
  /** Maximum number of runs in the tree, without its root and including ended runs. */
  maxRuns: number;
  /** Maximum number of active runs in the tree, without its root. */
  maxConcurrent: number;
  /** For the model calls of all runs in the tree, including its root. Null: unlimited. */
  maxBudgetUsd: number | null;
}

export const childRunLimits = {
  runs: { default: 20, max: 1_000 },
  concurrent: { default: 5, max: 100 },
  /** The maximum depth of a run. The root of a tree has the depth 0. */
  depth: { default: 3, max: 10 },
  /** The requests of an agent, including those that its tools make. */
  ratePerMinute: 600,
  /** The requests of an agent that its host forwards at a time, until their answers are read. */
  concurrentCallsMax: 8,
  callMaxBytes: 1024 ** 2,
} as const;

/** The name of the server that offers the service's tools to an agent. */
export const serviceServerName = 'flowrun';

/** Why an agent may not start a run: its own run is ending, or the limits of the tree. */
const childRejections = [
  'PARENT_ENDED',
  'TREE_DEPTH',
  'TREE_RUNS',
  'TREE_CONCURRENT',
  'TREE_BUDGET',
] as const;

export type ChildRejection = (typeof childRejections)[number];

export const isChildRejection = (reason: string): reason is ChildRejection =>
  childRejections.some((each) => each === reason);
