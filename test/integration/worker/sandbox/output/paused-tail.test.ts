import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openSpoolFile, type SpoolFile } from '../../../../../worker/sandbox/output/spool-file.ts';
import { createPauseState } from '../../../../../worker/sandbox/pause-state.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { assistant, createTailFixture, framesOf, plain } from './tail-fixture.ts';

const database = useDatabase();
const patiently = { timeout: 10_000 };

test.each([
  ['reports changes', 'out'],
  ['reports no changes', 'no-such-file'],
])(
  'output from before a pause and from after it is stored if the file system %s',
  async (_what, name) => {
    const fixture = await createTailFixture(database.pool);
    const pause = createPauseState();
    const file = await openSpoolFile(fixture.path);
    onTestFinished(() => file.close());
    let reads = 0;
    const spool: SpoolFile = {
      ...file,
      path: join(fixture.path, '..', name), // is watched, and not read
      read(buffer, offset) {
        reads += 1;
        return file.read(buffer, offset);
      },
    };
    const tail = await fixture.tail({ pause, spool });
    const stored = async () => plain(await fixture.log());
    const [before, after] = [assistant('before'), assistant('after')];
    await fixture.write(`${before}\n`);
    pause.markPaused();
    await expect.poll(stored, patiently).toEqual(framesOf([before]));
    await sleep(500);
    const atRest = reads;
    await sleep(2_000);
    expect(reads - atRest).toBeLessThanOrEqual(2);
    pause.markRunning();
    await fixture.write(`${after}\n`);
    await expect.poll(stored, patiently).toEqual(framesOf([before, after]));
    await tail.readToEnd();
  },
);

test('the end of a paused agent is read to its last byte', async () => {
  const fixture = await createTailFixture(database.pool);
  const pause = createPauseState();
  pause.markPaused();
  const file = await openSpoolFile(fixture.path);
  onTestFinished(() => file.close());
  const spool = { ...file, path: join(fixture.path, '..', 'no-such-file') };
  const tail = await fixture.tail({ pause, spool });
  await sleep(500);
  await fixture.write(`${assistant('last')}\n`);
  await tail.readToEnd();
  expect(plain(await fixture.log())).toEqual(framesOf([assistant('last')]));
});
