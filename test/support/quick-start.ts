// What a new user types, as the README has it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { codeBlockOf, commandsIn, fillIn } from './code-blocks.ts';
import { runShell } from './run-shell.ts';

interface Machine {
  /** The folder with `./flowrun`. */
  folder: string;
  url: string;
  env: Record<string, string | undefined>;
}

/** The first command, which starts the service, and those after it. */
export const [startCommand = '', ...quickStart] = commandsIn(codeBlockOf('README.md', 'sh'));

/**
 * Types the commands after the first one. The first of them shows a run; the others sign in with
 * the key that it has printed, and start another one.
 */
export async function followQuickStart({ folder, url, env }: Machine): Promise<void> {
  const [hello = '', ...others] = quickStart;
  const first = await runShell(hello, { cwd: folder, env });
  expect(first.code, first.err).toBe(0);
  expect(first.err).toMatch(/Started the run .*The run has completed\./s);
  const key = /frs_\w+/.exec(first.out)?.[0] ?? '';
  const home = mkdtempSync(join(tmpdir(), 'user-'));
  try {
    const user = { ...env, HOME: home, npm_config_registry: 'http://127.0.0.1:9/' };
    for (const command of others) {
      const filled = fillIn(command, { 'http://127.0.0.1:8080': url });
      const typed = filled.replace('frs_…', key);
      const { code, err } = await runShell(typed, { cwd: home, env: user });
      expect(code, `${typed}\n${err}`).toBe(0);
      if (!typed.includes(' login ')) expect(err).toMatch(/^Run [0-9a-f-]{36}$/m);
    }
    expect(readFileSync(join(home, '.config/flowrun/contexts.json'), 'utf8')).toContain(key);
  } finally {
    rmSync(home, { recursive: true });
  }
}
