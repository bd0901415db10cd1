/**
 * Where things are inside every sandbox, and the entry program's timeouts. The image is built from this
 * folder alone, so the numbers stand here once more; a test holds them to the service's own.
 */
export interface Paths {
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

export const paths: Paths = {
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

export interface Timeouts {
  /** Between two dials while the host is away. */
  redialMs: number;
  /** For how long an accepted connection waits for the host. */
  connectTimeoutMs: number;
  /** After an answer that helps nobody. */
  errorRetryMs: number;
  /** A host that has accepted a call and says nothing is given up; its long poll takes 25 s. */
  responseTimeoutMs: number;
  /** How often the host is asked for a sign of life once the input is closed. */
  keepAliveMs: number;
  /** Without any answer for so long, everything ends. */
  deadlineMs: number;
  /** What is left to answer when the deadline has passed, each of two timeouts. */
  finalProbeMs: number;
  /** Between the agent's SIGTERM and its SIGKILL when the deadline has ended it. */
  killGraceMs: number;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

export const timeouts: Timeouts = {
  redialMs: 100,
  connectTimeoutMs: 10 * minuteMs,
  errorRetryMs: secondMs,
  responseTimeoutMs: 35 * secondMs,
  keepAliveMs: minuteMs,
  deadlineMs: 120 * minuteMs,
  finalProbeMs: 5 * secondMs,
  killGraceMs: 10 * secondMs,
};

/** How the entry program itself ends where the agent has no exit code to pass on. */
export const exitCodes = {
  configConsumed: 78,
  internal: 70,
  agentNotStarted: 127,
  hostLost: 124,
  terminated: 143,
} as const;
