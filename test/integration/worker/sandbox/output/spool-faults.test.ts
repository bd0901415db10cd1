import { rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openSpoolFile } from '../../../../../worker/sandbox/output/spool-file.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { assistant, bounds, framesOf, plain, tailWorld } from './tail-fixture.ts';

const database = useDatabase();

test('a transient disk error loses nothing; a lasting one ends the run', async () => {
  const world = await tailWorld(database.pool);
  await world.write(`${assistant('one')}\n`);
  const real = await openSpoolFile(world.path);
  onTestFinished(() => real.close());
  const failing = { until: performance.now() + 500 };
  const spool = {
    ...real,
    read: async (buffer: Buffer, offset: number) => {
      if (performance.now() < failing.until) throw new Error('EIO: i/o error, read');
      return real.read(buffer, offset);
    },
  };
  const tail = await world.tail({ spool });
  await expect.poll(async () => (await world.log()).length).toBe(2);
  expect(tail.troubles).toEqual([]);

  failing.until = Number.POSITIVE_INFINITY;
  await world.write(`${assistant('two')}\n`);
  await expect.poll(() => tail.troubles).toEqual(['spool_unreadable']);
  await tail.done;
});

test('stops reading a truncated spool', async () => {
  const world = await tailWorld(database.pool);
  const tail = await world.tail();
  await world.write(`${assistant('one')}\n`);
  await expect.poll(async () => (await world.log()).length).toBe(2);
  await world.cutTo(3);
  await expect.poll(() => tail.troubles).toEqual(['spool_truncated']);
});

test.each(['removed', 'moved', 'a link', 'another file'])(
  'stops reading a replaced spool: %s',
  async (how) => {
    const world = await tailWorld(database.pool);
    const tail = await world.tail();
    await world.write(`${assistant('one')}\n`);
    await expect.poll(async () => (await world.log()).length).toBe(2);
    if (how === 'moved') await rename(world.path, `${world.path}.moved`);
    else await unlink(world.path);
    if (how === 'a link') await symlink('/etc/hostname', world.path);
    if (how === 'another file') await writeFile(world.path, `${assistant('forged')}\n`.repeat(50));
    await expect.poll(() => tail.troubles).toEqual(['spool_replaced']);
    await tail.done;
    expect(plain(await world.log())).toEqual(framesOf([assistant('one')]));
  },
);

test('stops reading a spool at its size limit', async () => {
  const world = await tailWorld(database.pool);
  const tail = await world.tail({ bounds: { ...bounds(), spoolBytes: 10_000 } });
  await world.write(`${assistant('x')}\n`.repeat(200));
  await expect.poll(() => tail.troubles).toEqual(['spool_too_large']);
});
