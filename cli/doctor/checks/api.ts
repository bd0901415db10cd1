import { z } from 'zod';
import { type Check, checked } from '../types.ts';

export const apiCheck: Check = {
  name: 'api',
  needs: [],
  onError: {
    code: 'api_unreachable',
    message: 'The API does not respond',
    advice: 'Start the API and check its log, or correct PUBLIC_URL. Runs continue without it.',
  },
  async run({ readiness, config }) {
    const answer = await readiness();
    if (answer.status === 200) return checked([`ready on ${config.publicUrl}`]);
    const why = answer.failed.length > 0 ? answer.failed.join(', ') : `HTTP ${answer.status}`;
    return checked([], {
      code: 'api_not_ready',
      message: `The API on ${config.publicUrl} is not ready: ${why}.`,
      advice:
        'Fix the problems below. If there are none, the API has different settings than this command: compare them.',
    });
  },
};

const answerSchema = z.object({
  data: z.object({ checks: z.record(z.string(), z.string()) }),
});

const withinMs = 10_000;

/** The status of `/readyz`, and the names of the failed dependencies. */
export async function fetchReadiness(
  publicUrl: string,
): Promise<{ status: number; failed: string[] }> {
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(`${publicUrl}/readyz`, { signal }).catch((error: unknown) => {
    throw new Error(`${publicUrl}: ${causeOf(error)}`, { cause: error });
  });
  const body: unknown = await answer.json().catch(() => null);
  const parsed = answerSchema.safeParse(body);
  const checks = parsed.success ? Object.entries(parsed.data.data.checks) : [];
  const failed = checks.filter(([, health]) => health !== 'ok').map(([name]) => name);
  return { status: answer.status, failed };
}

/** `fetch` reports "fetch failed"; the reason is its cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof AggregateError) return cause.errors.map(causeOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
