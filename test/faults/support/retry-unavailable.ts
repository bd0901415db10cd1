import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats a request like a client while the answer is 503, for this time at most. */
export async function retryUnavailable<Answer extends { status: number }>(
  request: () => Promise<Answer>,
  withinMs: number,
): Promise<Answer> {
  const end = performance.now() + withinMs;
  for (;;) {
    const answer = await request();
    if (answer.status !== 503 || performance.now() > end) return answer;
    await sleep(250);
  }
}
