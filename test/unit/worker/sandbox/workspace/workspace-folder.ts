import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A working directory `root` in a folder `base` that the agent cannot access. Removed after the
 * test.
 */
export function makeWorkspace() {
  const base = mkdtempSync(join(tmpdir(), 'workspace-'));
  const root = join(base, 'w');
  mkdirSync(root);
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  return {
    base,
    root,
    /** Writes a file below `root`, with its parent directories. */
    put(path: string, content: string | Buffer = path): void {
      const full = join(root, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
    },
  };
}
