import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { fieldsAt, numberAt, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { useTool } from '../turn.ts';

const chunkBytes = 1024 * 1024;

/** Writing files, filling the disk, and harming the agent's own output. */
export const fileSteps: Handlers = {
  write: async (step, turn) => {
    const fields = fieldsAt(step, 'write');
    const path = resolve(textAt(fields, 'path'));
    const content = textAt(fields, 'content');
    const input = { file_path: path, content };
    await useTool(turn, { name: 'Write', input, subject: path }, async () =>
      outcomeOf(`File created successfully at: ${path}`, () => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }),
    );
  },
  fill: async (step, turn) => {
    const fields = fieldsAt(step, 'fill');
    const path = resolve(textAt(fields, 'path'));
    const megabytes = numberAt(fields, 'mb');
    await useTool(turn, { name: 'Write', input: { file_path: path }, subject: path }, () =>
      fillFile(path, megabytes),
    );
  },
  truncateSpool: () => ftruncateSync(1, 0),
};

function outcomeOf(text: string, act: () => void) {
  try {
    act();
    return { text, isError: false };
  } catch (error) {
    return { text: String(error), isError: true };
  }
}

/** Writes until the size is reached or the disk refuses; an interrupt is heard between two megabytes. */
async function fillFile(path: string, megabytes: number) {
  const file = openSync(path, 'w');
  const chunk = Buffer.alloc(chunkBytes, 'x');
  let written = 0;
  try {
    for (; written < megabytes; written += 1) {
      writeSync(file, chunk);
      await nextTick();
    }
    return { text: `Wrote ${written} MB`, isError: false };
  } catch (error) {
    return { text: `After ${written} MB: ${String(error)}`, isError: true };
  } finally {
    closeSync(file);
  }
}
