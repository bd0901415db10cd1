import { expect, test } from 'vitest';
import { runCommand } from '../../../dev/lib/run-command.ts';

const inPieces = `
  process.stdout.write(Buffer.from([0xc3]));
  setTimeout(() => process.stdout.write(Buffer.from([0xa4])), 100);`;

test('a character that is split between two chunks is decoded', async () => {
  expect(await runCommand(process.execPath, ['-e', inPieces])).toBe('ä');
});

test('the error of a failed command contains the end of its output', async () => {
  const failing = 'console.log("before"); console.error("why"); process.exitCode = 3';
  await expect(runCommand(process.execPath, ['-e', failing])).rejects.toThrow(
    /ended with 3\n[^]*why/,
  );
});
