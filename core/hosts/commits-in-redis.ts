/**
 * The last commits as Redis stores them, written after each commit, so Postgres must have them all.
 */
export interface CommitsInRedis {
  /** IDs of the runs, sessions and messages that were accepted last. */
  acceptedIds: string[];
  /** The last frame in the stream of each run. */
  lastFrames: { runId: string; seq: number }[];
}
