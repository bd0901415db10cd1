import { expect, test } from 'vitest';
import { coalesce } from '../../../../lib/async/coalesce.ts';

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

test('whoever asks while it goes on shares one further round, which begins after they asked', async () => {
  let moment = 0;
  const rounds: string[] = [];
  const ask = coalesce(async (key) => {
    rounds.push(key);
    const seen = moment;
    await soon();
    return seen;
  });
  const first = ask('a');
  moment = 1;
  const others = Promise.all([ask('a'), ask('a'), ask('a')]);
  expect([await first, await others]).toEqual([0, [1, 1, 1]]);
  expect(rounds).toEqual(['a', 'a']);
  expect(await Promise.all([ask('b'), ask('c')])).toEqual([1, 1]);
});

test('a round that fails is heard of by those who shared it, and keeps no other from coming', async () => {
  let calls = 0;
  const ask = coalesce(async () => {
    calls += 1;
    await soon();
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
