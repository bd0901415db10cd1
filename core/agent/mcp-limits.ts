const secondMs = 1_000;

/** Limits of the MCP tools. */
export const mcpLimits = {
  /** Many clients give up on a tool after 60 s. */
  waitMaxSeconds: 45,
  /** While a tool waits, it reads the run at intervals that grow from this to `pollMaxMs`. */
  pollMinMs: secondMs,
  pollMaxMs: 5 * secondMs,
  /** Longer texts are truncated. */
  textMaxChars: 50_000,
  /** The number of flows that are tools. */
  flowsMax: 100,
  /** The number of frames in a transcript. */
  framesMax: 200,
} as const;
