import { z } from 'zod';
import { sizeOf } from '../advice.ts';
import { type ApiReadiness, type Check, checked, skipped } from '../types.ts';

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

/** The API is the only process with access to the disk of Postgres. */
export const postgresDiskCheck: Check = {
  name: 'postgres disk',
  needs: ['api'],
  onError: {
    code: 'postgres_disk_unknown',
    message: 'The free space of the disk of Postgres cannot be read',
    advice: 'Check the log of the API.',
  },
  async run({ readiness }) {
    const { postgresDisk: disk } = await readiness();
    if (disk === null) return skipped('the API has no POSTGRES_DISK_DIR that it can read');
    const { freeBytes, reserveBytes } = disk;
    const facts = [`${sizeOf(freeBytes)} free`, `${sizeOf(reserveBytes)} reserved`];
    if (freeBytes >= warnedReserves * reserveBytes) return checked(facts);
    return checked(facts, {
      code: 'postgres_disk_short',
      message: `The disk of Postgres has only ${sizeOf(freeBytes)} free. With less than ${sizeOf(reserveBytes)}, new runs, sessions, messages and files are answered with 503.`,
      advice:
        'Enlarge that disk, or lower RUN_RETENTION_DAYS. Deleted rows free space for new ones, not on the disk.',
    });
  },
};

/** Reported before new data is rejected. */
const warnedReserves = 2;

const answerSchema = z.object({
  data: z.object({
    checks: z.record(z.string(), z.string()),
    postgresDisk: z.object({ freeBytes: z.number(), reserveBytes: z.number() }).nullish(),
  }),
});

const withinMs = 10_000;

export async function fetchReadiness(publicUrl: string): Promise<ApiReadiness> {
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(`${publicUrl}/readyz`, { signal }).catch((error: unknown) => {
    throw new Error(`${publicUrl}: ${causeOf(error)}`, { cause: error });
  });
  const body: unknown = await answer.json().catch(() => null);
  const parsed = answerSchema.safeParse(body);
  const checks = parsed.success ? Object.entries(parsed.data.data.checks) : [];
  const failed = checks.filter(([, health]) => health !== 'ok').map(([name]) => name);
  const postgresDisk = parsed.data?.data.postgresDisk ?? null;
  return { status: answer.status, failed, postgresDisk };
}

/** `fetch` reports "fetch failed"; the reason is its cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof AggregateError) return cause.errors.map(causeOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
