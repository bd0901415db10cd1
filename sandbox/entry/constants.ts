/**
 * Where things are inside every sandbox, and the entry program's times. The image is built from this
 * folder alone, so the numbers stand here once more; a test holds them to the service's own.
 */
export interface Places {
  agent: string;
  workspace: string;
  spoolFile: string;
  stderrFile: string;
  socket: string;
  filesDir: string;
  home: string;
  configDir: string;
  proxyPort: number;
}

export const places: Places = {
  agent: '/opt/frs/agent',
  workspace: '/workspace',
  spoolFile: '/spool/out',
  stderrFile: '/spool/err',
  socket: '/run/egress/x',
  filesDir: '/home/agent/.frs',
  home: '/home/agent',
  configDir: '/home/agent/.claude',
  proxyPort: 8118,
};

export interface Times {
  /** Between two dials while the host is away. */
  redialMs: number;
  /** For how long an accepted connection waits for the host. */
  holdMs: number;
  /** After an answer that helps nobody. */
  refusedMs: number;
  /** A host that has accepted a call and says nothing is given up; its long poll takes 25 s. */
  answerMs: number;
  /** How often the host is asked for a sign of life once the input is closed. */
  signOfLifeMs: number;
  /** Without any answer for so long, everything ends. */
  deadlineMs: number;
  /** What is left to answer when the deadline has passed, each of two times. */
  lastAskMs: number;
  /** Between the agent's SIGTERM and its SIGKILL when the deadline has ended it. */
  killGraceMs: number;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

export const times: Times = {
  redialMs: 100,
  holdMs: 10 * minuteMs,
  refusedMs: secondMs,
  answerMs: 35 * secondMs,
  signOfLifeMs: minuteMs,
  deadlineMs: 120 * minuteMs,
  lastAskMs: 5 * secondMs,
  killGraceMs: 10 * secondMs,
};

/** How the entry program itself ends where the agent has no exit code to pass on. */
export const exitCodes = {
  configGone: 78,
  internal: 70,
  agentNotStarted: 127,
  hostLost: 124,
  terminated: 143,
} as const;
