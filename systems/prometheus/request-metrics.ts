import { Counter, Histogram, type Registry } from 'prom-client';
import { callSeconds } from './buckets.ts';

export interface AnsweredRequest {
  method: string;
  /** The route's pattern; null for a path that there is not. */
  route: string | null;
  status: number;
  /** Of the error envelope. */
  code: string | null;
  /** Null where the time says nothing about the service, as that of a stream. */
  seconds: number | null;
}

/** `codes`: every one there is, so that each is there before it comes for the first time. */
export function createRequestMetrics(registry: Registry, codes: readonly string[]) {
  const registers = [registry];
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'flowrun_http_requests_total',
    help: 'Requests that were answered, by route and class of status.',
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: 'flowrun_http_request_duration_seconds',
    help: 'From a request to its answer, without streams and without what the caller chose to wait.',
    labelNames,
    buckets: callSeconds,
    registers,
  });
  const errors = new Counter({
    name: 'flowrun_http_errors_total',
    help: 'Error answers, by the code that the client was told.',
    labelNames: ['code'],
    registers,
  });
  for (const code of codes) errors.inc({ code }, 0);

  return {
    answered({ method, route, status, code, seconds }: AnsweredRequest): void {
      const labels = {
        method,
        route: route ?? 'none',
        status: `${Math.floor(status / 100)}xx`,
      };
      requests.inc(labels);
      if (seconds !== null) durations.observe(labels, seconds);
      if (code !== null) errors.inc({ code });
    },
  };
}
