import { z } from 'zod';
import { type Check, checked } from '../types.ts';

export const api: Check = {
  name: 'api',
  needs: [],
  ifItFails: {
    code: 'api_away',
    what: 'No API answers',
    advice: 'Start the API and see its log, or correct PUBLIC_URL. What runs goes on without it.',
  },
  async look({ readiness, config }) {
    const answer = await readiness();
    if (answer.status === 200) return checked([`ready on ${config.publicUrl}`]);
    const why = answer.failed.length > 0 ? answer.failed.join(', ') : `HTTP ${answer.status}`;
    return checked([], {
      code: 'api_not_ready',
      what: `The API on ${config.publicUrl} is not ready: ${why}.`,
      advice:
        'Mend what is wrong below. Where all is well here, the API has other settings than this command: compare them.',
    });
  },
};

const answerSchema = z.object({
  data: z.object({ checks: z.record(z.string(), z.string()) }),
});

const withinMs = 10_000;

/** What `/readyz` says, and which of its parts have failed. */
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

/** The reason hides behind "fetch failed". */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof AggregateError) return cause.errors.map(causeOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
