import { limits } from '../../core/limits.ts';
import { type RunTimeouts, runTimeouts } from './run-timeouts.ts';

/** How long a session's workflow waits for what. Part of its input, like those of a run. */
export interface SessionTimeouts extends RunTimeouts {
  /** Until a sandbox that nobody watches is put to sleep, */
  idleMs: number;
  /** and until one is whose stream is held open. */
  attendedIdleMs: number;
  /** A session that nobody speaks to for so long ends. */
  inactivityMs: number;
  maxConsecutiveLosses: number;
  turnsPerHistory: number;
}

export const sessionTimeouts: SessionTimeouts = {
  ...runTimeouts,
  idleMs: limits.sessionIdleMs,
  attendedIdleMs: limits.sessionAttendedIdleMs,
  inactivityMs: limits.sessionInactivityMs,
  maxConsecutiveLosses: limits.sessionCrashesMax,
  turnsPerHistory: limits.sessionTurnsPerHistory,
};
