import { rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openSpoolFile } from '../../../../../worker/sandbox/output/spool-file.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { assistant, bounds, createTailFixture, framesOf, plain } from './tail-fixture.ts';

const database = useDatabase();

test('a transient disk error loses nothing; a lasting one ends the run', async () => {
  const fixture = await createTailFixture(database.pool);
  await fixture.write(`${assistant('one')}\n`);
  const real = await openSpoolFile(fixture.path);
  onTestFinished(() => real.close());
  const failing = { until: performance.now() + 500 };
  const spool = {
    ...real,
    read: async (buffer: Buffer, offset: number) => {
      if (performance.now() < failing.until) throw new Error('EIO: i/o error, read');
      return real.read(buffer, offset);
    },
  };
  const tail = await fixture.tail({ spool });
  await expect.poll(async () => (await fixture.log()).length).toBe(2);
  expect(tail.troubles).toEqual([]);

  failing.until = Number.POSITIVE_INFINITY;
  await fixture.write(`${assistant('two')}\n`);
  await expect.poll(() => tail.troubles).toEqual(['spool_unreadable']);
  await tail.done;
});

test('stops reading a truncated spool', async () => {
  const fixture = await createTailFixture(database.pool);
  const tail = await fixture.tail();
  await fixture.write(`${assistant('one')}\n`);
  await expect.poll(async () => (await fixture.log()).length).toBe(2);
  await fixture.cutTo(3);
  await expect.poll(() => tail.troubles).toEqual(['spool_truncated']);
});

test.each(['removed', 'moved', 'a link', 'another file'])(
  'stops reading a replaced spool: %s',
  async (how) => {
    const fixture = await createTailFixture(database.pool);
    const tail = await fixture.tail();
    await fixture.write(`${assistant('one')}\n`);
    await expect.poll(async () => (await fixture.log()).length).toBe(2);
    if (how === 'moved') await rename(fixture.path, `${fixture.path}.moved`);
    else await unlink(fixture.path);
    if (how === 'a link') await symlink('/etc/hostname', fixture.path);
    if (how === 'another file')
      await writeFile(fixture.path, `${assistant('forged')}\n`.repeat(50));
    await expect.poll(() => tail.troubles).toEqual(['spool_replaced']);
    await tail.done;
    expect(plain(await fixture.log())).toEqual(framesOf([assistant('one')]));
  },
);

test('stops reading a spool at its size limit', async () => {
  const fixture = await createTailFixture(database.pool);
  const tail = await fixture.tail({ bounds: { ...bounds(), spoolBytes: 10_000 } });
  await fixture.write(`${assistant('x')}\n`.repeat(200));
  await expect.poll(() => tail.troubles).toEqual(['spool_too_large']);
});
