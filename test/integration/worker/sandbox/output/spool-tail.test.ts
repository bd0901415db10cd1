import { expect, test } from 'vitest';
import { useDatabase } from '../../../../support/use-database.ts';
import { assistant, bounds, createTailFixture, framesOf, plain } from './tail-fixture.ts';

const database = useDatabase();

const result = JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'ok',
});

/** Lines of every kind: short, long and non-ASCII. */
function manyLines(count: number): string[] {
  const tale = 'Ääni 日本語 ' + '🙂'.repeat(40) + ' €';
  return Array.from({ length: count }, (_, i) =>
    assistant(i % 97 === 0 ? `${i} ${tale.repeat(300)}` : `${i} ${tale.slice(0, 30)}`),
  );
}

test('tails that are interrupted repeatedly write the same log as a single one', async () => {
  const fixture = await createTailFixture(database.pool);
  const lines = manyLines(20_000);
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  const writing = (async () => {
    for (let at = 0; at < bytes.length; at += 40_001) {
      await fixture.write(bytes.subarray(at, at + 40_001));
    }
  })();
  for (let cut = 0; cut < 40; cut += 1) {
    const tail = await fixture.tail();
    await new Promise((resolve) => setTimeout(resolve, 5 + ((cut * 37) % 60)));
    tail.stop(); // without waiting: the next one starts while this one may still be committing
  }
  await writing;
  await (await fixture.tail()).readToEnd();
  const log = await fixture.log();
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(plain(log)).toEqual(framesOf(lines));
}, 120_000);

test('the end of a turn waits for the ledger, and output before it does not', async () => {
  const fixture = await createTailFixture(database.pool);
  let resolveCalls: () => void = () => {};
  const calls = new Promise<void>((resolve) => {
    resolveCalls = resolve;
  });
  let isWaiting = false;
  const tail = await fixture.tail({
    bounds: { ...bounds(), lines: 1 },
    callsWritten() {
      isWaiting = true;
      return calls;
    },
  });
  await fixture.write(`${assistant('hello')}\n${result}\n`);
  await expect.poll(() => isWaiting).toBe(true);
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('hello')]));
  resolveCalls();
  await tail.readToEnd();
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('hello'), result]));
});

test('a tail frozen during its write stores nothing once another has started', async () => {
  const fixture = await createTailFixture(database.pool);
  let thaw: () => void = () => {};
  const frozen = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  let waiting = false;
  const first = await fixture.tail({
    frames: {
      append: async (batch) => {
        waiting = true;
        await frozen;
        return fixture.frames.append(batch);
      },
    },
  });
  await fixture.write(`${assistant('one')}\n`);
  await expect.poll(() => waiting).toBe(true);
  const second = await fixture.tail();
  await fixture.write(`${assistant('two')}\n`);
  await second.readToEnd();
  thaw();
  await expect.poll(() => first.fenced()).toBe(true);
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('one'), assistant('two')]));
  expect(fixture.published.flatMap(({ frames }) => frames.map(({ seq }) => seq))).toEqual([
    1, 2, 3, 4,
  ]);
});

test('a batch with an unanswered commit is stored once, and published afterwards', async () => {
  const fixture = await createTailFixture(database.pool);
  let attempts = 0;
  let publishedBefore = 0;
  const tail = await fixture.tail({
    frames: {
      append: async (batch) => {
        attempts += 1;
        if (attempts === 1) throw new Error('away');
        const stored = await fixture.frames.append(batch);
        if (attempts === 2) throw new Error('went through unheard');
        publishedBefore = fixture.published.length;
        return stored;
      },
    },
  });
  await fixture.write(`${assistant('one')}\n`);
  await tail.readToEnd();
  expect(attempts).toBe(3);
  expect(publishedBefore).toBe(0);
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('one')]));
  expect(fixture.published).toHaveLength(1);
});

test('a character split by every read is decoded correctly', async () => {
  const fixture = await createTailFixture(database.pool);
  const tail = await fixture.tail({ bounds: { ...bounds(), chunkBytes: 1 } });
  await fixture.write(`${assistant('日本語 🙂 €')}\n`);
  await tail.readToEnd();
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('日本語 🙂 €')]));
});

test('the rest after the last newline is read once nothing can follow, and not before', async () => {
  const fixture = await createTailFixture(database.pool);
  const tail = await fixture.tail();
  const line = assistant('unfinished');
  await fixture.write(`${assistant('whole')}\n${line.slice(0, 20)}`);
  await expect.poll(async () => (await fixture.log()).length).toBe(2);
  await fixture.write(line.slice(20));
  await tail.readToEnd();
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('whole'), line]));
});

test('deltas follow the frame before them, with the same ids after a restart', async () => {
  const fixture = await createTailFixture(database.pool);
  const delta = (text: string) =>
    JSON.stringify({ type: 'stream_event', event: { type: 'content_block_delta', text } });
  const first = await fixture.tail();
  await fixture.write(`${assistant('one')}\n${delta('a')}\n${delta('b')}\n`);
  await expect.poll(() => fixture.published.flatMap(({ deltas }) => deltas).length).toBe(2);
  first.stop();
  await first.done;
  const second = await fixture.tail();
  await fixture.write(`${delta('c')}\n${assistant('two')}\n${delta('d')}\n`);
  await second.readToEnd();
  const ids = fixture.published.flatMap(({ deltas }) =>
    deltas.map(({ seq, n, data }) => `${seq}-${n} ${JSON.parse(data).event.text}`),
  );
  expect(ids).toEqual(['2-1 a', '2-2 b', '2-1 a', '2-2 b', '2-3 c', '4-1 d']);
});

test('readers are notified of a batch before its effects start, and neither waits for Redis', async () => {
  const fixture = await createTailFixture(database.pool);
  const order: string[] = [];
  let comeBack: (outcome: 'failed') => void = () => {};
  const away = new Promise<'failed'>((resolve) => {
    comeBack = resolve;
  });
  await fixture.tail({
    onStored: () => void Promise.resolve().then(() => order.push('set going')),
    frameStream: {
      publish: (_runId, { frames }) => {
        order.push(`published ${frames[0]?.seq}`);
        return frames[0]?.seq === 1 ? Promise.resolve('buffered') : away;
      },
    },
  });
  for (const text of ['one', 'two', 'three']) {
    await fixture.write(`${assistant(text)}\n`);
    await expect.poll(() => order.at(-1)).toBe('set going');
    order.push('next');
  }
  const steps = ['published 1', 'set going', 'next', 'published 3', 'set going', 'next'];
  expect(order).toEqual([...steps, 'set going', 'next']);
  comeBack('failed');
});

test('a batch ends with the result that is in it', async () => {
  const fixture = await createTailFixture(database.pool);
  const batches: [number, boolean][] = [];
  const tail = await fixture.tail({
    onStored: ({ frames, agentState }) => void batches.push([frames, agentState.isDone]),
  });
  await fixture.write(`${assistant('one')}\n${result}\n${result}\n${assistant('two')}\n`);
  await tail.readToEnd();
  expect(batches).toEqual([
    [4, true],
    [2, true],
    [2, true],
  ]);
  expect(plain(await fixture.log())).toEqual(
    framesOf([assistant('one'), result, result, assistant('two')]),
  );
});

test('a quiet run is not starved by eight that flood', async () => {
  const floods = await Promise.all(
    Array.from({ length: 8 }, () => createTailFixture(database.pool)),
  );
  const quiet = await createTailFixture(database.pool);
  await quiet.tail();
  let turns = 0;
  for (const flood of floods) {
    await flood.write('y\n'.repeat(200_000));
    await flood.tail({
      onStored: () => {
        turns += 1;
      },
    });
  }
  const turnsBetween: number[] = [];
  for (let i = 1; i <= 5; i += 1) {
    const before = turns;
    await quiet.write(`${assistant(`${i}`)}\n`);
    await expect.poll(async () => (await quiet.log()).length, { interval: 5 }).toBe(2 * i);
    turnsBetween.push(turns - before);
  }
  expect(Math.max(...turnsBetween)).toBeLessThan(8 * 8);
}, 60_000);
