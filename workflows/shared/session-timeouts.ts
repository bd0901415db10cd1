import { limits } from '../../core/limits.ts';
import { type RunTimes, runTimes } from './run-timeouts.ts';

/** How long a session's workflow waits for what. Part of its input, like those of a run. */
export interface SessionTimes extends RunTimes {
  /** Until a sandbox that nobody watches is put to sleep, */
  idleMs: number;
  /** and until one is whose stream is held open. */
  attendedIdleMs: number;
  /** A session that nobody speaks to for so long ends. */
  silentMs: number;
  lossesMax: number;
  turnsPerHistory: number;
}

export const sessionTimes: SessionTimes = {
  ...runTimes,
  idleMs: limits.sessionIdleMs,
  attendedIdleMs: limits.sessionAttendedIdleMs,
  silentMs: limits.sessionSilentMs,
  lossesMax: limits.sessionCrashesMax,
  turnsPerHistory: limits.sessionTurnsPerHistory,
};
