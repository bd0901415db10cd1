import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Checked } from './check-answer.ts';

/** What is shown of a request. */
interface Sent {
  operation: { method: string };
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

interface Attack<R extends Sent> {
  request: fc.Arbitrary<R>;
  /** `nth` of the requests sent together. */
  send: (request: R, nth: number) => Promise<Checked>;
  /** Throws if an answer is not permitted. */
  check: (request: R, answer: Checked) => void;
  batches: number;
  /** How many requests are sent together, which also tests their interference. */
  batchSize?: number;
}

/** Requests that were retried because a dependency of the service did not answer. */
export const sentAgain = { requests: 0 };

export const atOnce = 20;

/** The same requests each time, unless `npm run test:fuzz` chooses others. */
export const seed = Number(process.env['FUZZ_SEED'] ?? 1);

export async function assertAnswers<R extends Sent>(attack: Attack<R>): Promise<void> {
  const { request, send, check, batches, batchSize = atOnce } = attack;
  const batch = fc.array(request, { minLength: batchSize, maxLength: batchSize });
  await fc.assert(
    fc.asyncProperty(batch, async (requests) => {
      const sent = requests.map(async (each, nth) => {
        judge(check, each, await sendPatiently(() => send(each, nth)));
      });
      await Promise.all(sent);
    }),
    { seed, numRuns: batches, endOnFailure: true, reporter: showFailure },
  );
}

/**
 * A busy machine connects to Postgres too late, or uses a connection just when the service closes
 * it. That is not caused by the request, so the request is retried, as the answer advises. A
 * failure that the request causes recurs.
 */
async function sendPatiently(send: () => Promise<Checked>): Promise<Checked> {
  for (let tries = 1; tries <= 5; tries += 1) {
    const answer = await send().catch(nullIfReset);
    const isBusy = answer?.status === 503 && answer.text.includes('A dependency of the service');
    if (answer !== null && !isBusy) return answer;
    if (tries === 1) sentAgain.requests += 1;
    await sleep(tries * 1_000);
  }
  return send();
}

function nullIfReset(error: unknown): null {
  const cause = error instanceof TypeError ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET') return null;
  throw error;
}

/** Shows the failed request of a batch and how to repeat it. */
function judge<R extends Sent>(check: Attack<R>['check'], request: R, answer: Checked): void {
  try {
    check(request, answer);
  } catch (cause) {
    const { operation, path, headers, body = '' } = request;
    const sent = `${operation.method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, 2_000)}`;
    const received = `${answer.status} ${answer.text.slice(0, 500)}`;
    throw new Error(`${sent}\n→ ${received}\n${String(cause)}`, { cause });
  }
}

/** Shows the request instead of its path in the generated values. */
function showFailure<R>({ failed, errorInstance }: fc.RunDetails<[R[]]>): void {
  if (!failed) return;
  throw new Error(`FUZZ_SEED=${seed}: ${String(errorInstance)}`, { cause: errorInstance });
}
