import { setTimeout as sleep } from 'node:timers/promises';
import { callHost, type HostCall, type HostResponse } from './call-host.ts';
import type { Timeouts } from './constants.ts';

/** The service, as seen through the run's socket: often away, never for good until the deadline. */
export interface Host {
  /** Asks until there is a useful answer; rejects only when `signal` is aborted. */
  requestWithRetry(call: HostCall, signal: AbortSignal): Promise<HostResponse>;
  /** Whether anybody answers anything within so long. */
  isAlive(withinMs: number): Promise<boolean>;
  /** When the last answer came, on the clock of `performance.now()`. */
  lastResponseAt(): number;
}

export function createHost(socketPath: string, timeouts: Timeouts): Host {
  let answeredAt = performance.now();

  async function ask(call: HostCall, signal: AbortSignal): Promise<HostResponse> {
    const answer = await callHost(socketPath, call, signal);
    answeredAt = performance.now();
    return answer;
  }

  // The first retry comes at once: a host that restarts is mostly back by then.
  async function requestWithRetry(call: HostCall, signal: AbortSignal): Promise<HostResponse> {
    for (let failures = 0; ; ) {
      signal.throwIfAborted();
      const patience = AbortSignal.any([signal, AbortSignal.timeout(timeouts.responseTimeoutMs)]);
      const answer = await ask(call, patience).catch(() => null);
      if (answer !== null && isUseful(answer.status)) return answer;
      failures = answer === null ? failures + 1 : 0;
      if (failures !== 1)
        await sleep(failures === 0 ? timeouts.errorRetryMs : timeouts.redialMs, null, { signal });
    }
  }

  // The configuration is long gone by then, and a living host says so at once; a long poll would not.
  async function isAlive(withinMs: number): Promise<boolean> {
    const end = performance.now() + withinMs;
    for (let left = withinMs; left > 0; left = end - performance.now()) {
      const signal = AbortSignal.timeout(Math.ceil(left));
      const answer = await ask({ method: 'GET', path: '/control/config' }, signal).catch(
        () => null,
      );
      if (answer !== null) return true;
      await sleep(Math.min(timeouts.redialMs, Math.max(0, end - performance.now())));
    }
    return false;
  }

  return { requestWithRetry, isAlive, lastResponseAt: () => answeredAt };
}

/** 410 is an answer too: what was asked for has been taken before. */
function isUseful(status: number): boolean {
  return (status >= 200 && status < 300) || status === 410;
}
