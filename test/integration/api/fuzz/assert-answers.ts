import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Checked } from './check-answer.ts';
import type { FuzzRequest } from './requests.ts';

interface Attack {
  request: fc.Arbitrary<FuzzRequest>;
  /** `nth` of those that go out at once. */
  send: (request: FuzzRequest, nth: number) => Promise<Checked>;
  /** Throws where an answer is none that may be given. */
  check: (request: FuzzRequest, answer: Checked) => void;
  batches: number;
}

/** What was sent again because a part of the service did not answer. */
export const sentAgain = { requests: 0 };

/** How many requests go out together; what two of them do to each other is tried as well. */
export const atOnce = 20;

export async function assertAnswers({ request, send, check, batches }: Attack): Promise<void> {
  const batch = fc.array(request, { minLength: atOnce, maxLength: atOnce });
  await fc.assert(
    fc.asyncProperty(batch, async (requests) => {
      const sent = requests.map(async (each, nth) => {
        judge(check, each, await sendPatiently(() => send(each, nth)));
      });
      await Promise.all(sent);
    }),
    { numRuns: batches, endOnFailure: true, reporter: showFailure },
  );
}

/**
 * A busy machine connects to Postgres too late. That is not caused by the request, so the request is
 * retried, as the answer advises. A failure that the request causes recurs.
 */
async function sendPatiently(send: () => Promise<Checked>): Promise<Checked> {
  for (let tries = 1; tries <= 5; tries += 1) {
    const answer = await send();
    if (answer.status !== 503 || !answer.text.includes('A part of the service')) return answer;
    if (tries === 1) sentAgain.requests += 1;
    await sleep(tries * 1_000);
  }
  return send();
}

/** Says which of a batch it was, and how it can be asked again. */
function judge(check: Attack['check'], request: FuzzRequest, answer: Checked): void {
  try {
    check(request, answer);
  } catch (cause) {
    const { operation, path, headers, body = '' } = request;
    const asked = `${operation.method} ${path} ${JSON.stringify(headers)} ${body.slice(0, 2_000)}`;
    const said = `${answer.status} ${answer.text.slice(0, 500)}`;
    throw new Error(`${asked}\n→ ${said}\n${String(cause)}`, { cause });
  }
}

/** The request itself says more than the path to it. */
function showFailure({ failed, seed, errorInstance }: fc.RunDetails<[FuzzRequest[]]>): void {
  if (failed) throw new Error(`seed ${seed}: ${String(errorInstance)}`, { cause: errorInstance });
}
