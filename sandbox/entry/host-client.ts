import { setTimeout as sleep } from 'node:timers/promises';
import { callHost, type HostCall, type HostResponse } from './call-host.ts';
import type { Timeouts } from './constants.ts';

/** Requests to the host over the run's socket. The host may be unreachable at any time. */
export interface HostClient {
  /** Retries until a usable response arrives; rejects only when `signal` is aborted. */
  requestWithRetry(call: HostCall, signal: AbortSignal): Promise<HostResponse>;
  /** Whether any response arrives within this time. */
  isAlive(withinMs: number): Promise<boolean>;
  /** The time of the last response, by `performance.now()`. */
  lastResponseAt(): number;
}

export function createHostClient(socketPath: string, timeouts: Timeouts): HostClient {
  let respondedAt = performance.now();

  async function send(call: HostCall, signal: AbortSignal): Promise<HostResponse> {
    const response = await callHost(socketPath, call, signal);
    respondedAt = performance.now();
    return response;
  }

  // The first retry is immediate: a restarting host is usually back by then.
  async function requestWithRetry(call: HostCall, signal: AbortSignal): Promise<HostResponse> {
    for (let failures = 0; ; ) {
      signal.throwIfAborted();
      const attempt = AbortSignal.any([signal, AbortSignal.timeout(timeouts.responseTimeoutMs)]);
      const response = await send(call, attempt).catch(() => null);
      if (response !== null && isUsable(response.status)) return response;
      failures = response === null ? failures + 1 : 0;
      if (failures !== 1)
        await sleep(failures === 0 ? timeouts.errorRetryMs : timeouts.redialMs, null, { signal });
    }
  }

  // The configuration was consumed long ago, so the host responds at once, unlike to a long poll.
  async function isAlive(withinMs: number): Promise<boolean> {
    const end = performance.now() + withinMs;
    for (let left = withinMs; left > 0; left = end - performance.now()) {
      const signal = AbortSignal.timeout(Math.ceil(left));
      const response = await send({ method: 'GET', path: '/control/config' }, signal).catch(
        () => null,
      );
      if (response !== null) return true;
      await sleep(Math.min(timeouts.redialMs, Math.max(0, end - performance.now())));
    }
    return false;
  }

  return { requestWithRetry, isAlive, lastResponseAt: () => respondedAt };
}

/** 410 is usable too: the resource was consumed before. */
function isUsable(status: number): boolean {
  return (status >= 200 && status < 300) || status === 410;
}
