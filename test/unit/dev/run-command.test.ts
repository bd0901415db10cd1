import { expect, test } from 'vitest';
import { runCommand } from '../../../dev/lib/run-command.ts';

const inPieces = `
  process.stdout.write(Buffer.from([0xc3]));
  setTimeout(() => process.stdout.write(Buffer.from([0xa4])), 100);`;

test('a character that comes in two pieces is one', async () => {
  expect(await runCommand(process.execPath, ['-e', inPieces])).toBe('ä');
});

test('a failure carries the last that was said', async () => {
  const failing = 'console.log("before"); console.error("why"); process.exitCode = 3';
  await expect(runCommand(process.execPath, ['-e', failing])).rejects.toThrow(
    /ended with 3\n[^]*why/,
  );
});
