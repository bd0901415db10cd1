/** How long data is retained. An operator can change these. The other periods are in the limits. */
export interface RetentionTimes {
  /** The log and the files of a run, after its end. */
  runMs: number;
  /** The files and the conversation of a session, after its end. */
  sessionFilesMs: number;
  webhookAttemptsMs: number;
}
