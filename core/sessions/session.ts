import type { Run } from '../runs/run.ts';
import type { RunConfig } from '../runs/run-config.ts';

/** A conversation: a run with an id that its caller may choose, for as many messages as it likes. */
export interface Session {
  run: Run;
  /** Messages that no agent has been given yet. */
  queued: number;
  lastMessageAt: Date | null;
}

/** What a host has to know of a session beside its run. */
export interface SessionPlan {
  sessionId: string;
  /** The last sandbox that was started. */
  startedGeneration: number;
}

/** A session's configuration, and which of its versions this is. */
export interface SessionConfig {
  config: RunConfig;
  version: number;
}
