import type { Run } from '../runs/run.ts';
import type { RunConfig } from '../runs/run-config.ts';

/** A conversation: a run with an ID that the caller may choose, and any number of messages. */
export interface Session {
  run: Run;
  /** Messages not yet delivered to an agent. */
  queued: number;
  lastMessageAt: Date | null;
}

/** A session's data for its host, in addition to its run. */
export interface SessionPlan {
  sessionId: string;
  /** The last sandbox that was started. */
  startedGeneration: number;
  /** False for a sandbox that a hint has requested, until the workflow has claimed its slot. */
  isClaimed: boolean;
  /** The agent has finished a turn whose state was not saved. */
  hasUnsavedTurn: boolean;
}

/** A session's configuration and its version. */
export interface SessionConfig {
  config: RunConfig;
  version: number;
}
