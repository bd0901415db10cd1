import { sandboxPaths } from '../../core/sandbox/sandbox-config.ts';

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

export const paths: Paths = { ...sandboxPaths, home: '/home/agent' };

export interface Timeouts {
  /** Between two connection attempts while the host is unreachable. */
  redialMs: number;
  /** How long an accepted connection waits for the host. */
  connectTimeoutMs: number;
  /** The pause after a response that is not usable. */
  errorRetryMs: number;
  /** When a request without a response is abandoned; the host's long poll takes 25 s. */
  responseTimeoutMs: number;
  /** How often the host is probed once the input is closed. */
  keepAliveMs: number;
  /** Without any response for this long, the sandbox ends. */
  deadlineMs: number;
  /** The time to respond to each of the two probes after the deadline. */
  finalProbeMs: number;
  /** Between the agent's SIGTERM and its SIGKILL after the deadline. */
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

/** Exit codes of the entry program for when there is no exit code of the agent. */
export const exitCodes = {
  configConsumed: 78,
  internal: 70,
  agentNotStarted: 127,
  hostLost: 124,
  terminated: 143,
} as const;
