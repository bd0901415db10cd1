import { expect, test } from 'vitest';
import { coalesce } from '../../../../lib/async/coalesce.ts';

const shortly = () => new Promise((resolve) => setTimeout(resolve, 5));

test('calls during an execution share the next one, which starts after them', async () => {
  let moment = 0;
  const rounds: string[] = [];
  const ask = coalesce(async (key) => {
    rounds.push(key);
    const seen = moment;
    await shortly();
    return seen;
  });
  const first = ask('a');
  moment = 1;
  const others = Promise.all([ask('a'), ask('a'), ask('a')]);
  expect([await first, await others]).toEqual([0, [1, 1, 1]]);
  expect(rounds).toEqual(['a', 'a']);
  expect(await Promise.all([ask('b'), ask('c')])).toEqual([1, 1]);
});

test('a failed execution rejects the calls that share it, and no other', async () => {
  let calls = 0;
  const ask = coalesce(async () => {
    calls += 1;
    await shortly();
    if (calls < 3) throw new Error(`round ${calls}`);
    return calls;
  });
  const first = ask('a');
  const shared = [ask('a'), ask('a')];
  await expect(first).rejects.toThrow('round 1');
  for (const one of await Promise.allSettled(shared)) {
    expect(one).toMatchObject({ status: 'rejected', reason: { message: 'round 2' } });
  }
  expect(await ask('a')).toBe(3);
});
