import { z } from 'zod';

const answerSchema = z.object({
  data: z.object({ checks: z.record(z.string(), z.string()) }),
});

const withinMs = 10_000;

/** What `/readyz` says, and which of its parts have failed. */
export async function askApi(publicUrl: string): Promise<{ status: number; failed: string[] }> {
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
