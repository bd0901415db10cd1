import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { script } from '../support/prompts.ts';
import { type RemoteCli, remoteCli, servedCli, storedEventsIn } from '../support/remote-cli.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
let flowrun: RemoteCli;
beforeAll(async () => {
  service = await startService({ flow: { name: 'writer' } });
  flowrun = remoteCli({ FLOWRUN_URL: service.url, FLOWRUN_KEY: service.key });
}, 240_000);
afterAll(async () => {
  flowrun?.remove();
  await service?.stop();
});

const lineCount = 60;
const talking = script(
  Array.from({ length: lineCount }, (_, index) => [
    { say: `Line ${index}.` },
    { sleepMs: 250 },
  ]).flat(),
);

it('follows a run whose API is killed five times, and prints each event once', async () => {
  const run = flowrun.start('run', 'writer', talking, '--json');
  for (let kill = 1; kill <= 5; kill += 1) {
    await run.untilOut(`Line ${kill * 8}.`);
    await service.api.kill('SIGKILL');
    await service.api.start();
  }
  const { code, out, err } = await run.ended;
  expect(code, err).toBe(0);
  const log = await flowrun('logs', '@', '--json');
  expect(log.out).toContain(`Line ${lineCount - 1}.`);
  expect(storedEventsIn(out)).toEqual(storedEventsIn(log.out));
});

it('ends with the exit code of a run whose worker was killed', async () => {
  const run = flowrun.start('run', 'writer', talking.replace(/\]$/, ',{"exit":7}]'));
  await run.untilErr('Line 5.');
  await service.worker.restart('SIGKILL');
  const { code, err } = await run.ended;
  expect(code, err).toBe(10);
});

const pairs = 15;

/** Pairs are measured alternately, so that other load affects both sides. */
it('starts within two and a half times the start of Node', () => {
  const ratios = Array.from({ length: pairs }, () => {
    const [bare, ours] = [
      ['-e', '0'],
      [servedCli, '--help'],
    ].map(timeOf);
    return (ours ?? 0) / (bare ?? 0);
  }).sort((a, b) => a - b);
  const median = ratios[Math.floor(pairs / 2)] ?? 0;
  console.log(`start of the command line: ${median.toFixed(2)} times that of Node`);
  expect(median).toBeLessThan(2.5);
});

function timeOf(args: string[]): number {
  const begin = performance.now();
  execFileSync(process.execPath, args);
  return performance.now() - begin;
}
