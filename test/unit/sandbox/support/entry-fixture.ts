import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxConfig } from '../../../../core/sandbox/sandbox-config.ts';
import { repository } from '../../../../dev/lib/folders.ts';
import { freePort } from '../../../../dev/stack/ports.ts';
import { type Paths, type Timeouts, timeouts } from '../../../../sandbox/entry/constants.ts';
import { type Entry, startEntry } from '../../../../sandbox/entry/entry.ts';
import { type FakeHost, fakeHost } from '../../../support/fake-host.ts';

/** The entry program in this process, with real sockets, a real agent process and a fake host. */
export interface EntryFixture {
  host: FakeHost;
  paths: Paths;
  start(): Entry;
  /** The agent's output lines. */
  printed(): Record<string, unknown>[];
  untilPrinted(key: string): Promise<Record<string, unknown>>;
  errors(): string;
  close(): Promise<void>;
}

interface FixtureOptions {
  config?: Partial<SandboxConfig>;
  timeouts?: Partial<Timeouts>;
  pollMs?: number;
}

export async function createEntryFixture(options: FixtureOptions = {}): Promise<EntryFixture> {
  const root = mkdtempSync(join(tmpdir(), 'entry-'));
  const paths = await makePaths(root);
  const { config = {}, pollMs = 1_000 } = options;
  const host = fakeHost({ socket: paths.socket, config, pollMs });
  const started: Entry[] = [];
  const printed = (): Record<string, unknown>[] => readLines(paths.spoolFile);

  function start(): Entry {
    const entry = startEntry({
      paths,
      timeouts: { ...timeouts, errorRetryMs: 50, ...options.timeouts },
    });
    started.push(entry);
    return entry;
  }

  async function untilPrinted(key: string): Promise<Record<string, unknown>> {
    for (let tries = 0; tries < 3_000; tries += 1) {
      const found = printed().find((line) => key in line);
      if (found !== undefined) return found;
      await sleep(10);
    }
    throw new Error(`the agent never printed "${key}": ${readFileSync(paths.spoolFile, 'utf8')}`);
  }

  async function close(): Promise<void> {
    for (const line of printed()) if (typeof line.up === 'number') killQuietly(line.up);
    for (const entry of started) entry.terminate('SIGKILL');
    await Promise.allSettled(started.map((entry) => entry.ended));
    await host.down();
    rmSync(root, { recursive: true, force: true });
  }

  const errors = (): string => readFileSync(paths.stderrFile, 'utf8');
  return { host, paths, start, printed, untilPrinted, errors, close };
}

async function makePaths(root: string): Promise<Paths> {
  for (const name of ['w', 's', 'k', 'h']) mkdirSync(join(root, name));
  const agent = join(root, 'agent');
  const script = join(repository, 'test/unit/sandbox/support/agent.mjs');
  writeFileSync(agent, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  chmodSync(agent, 0o755);
  for (const name of ['out', 'err']) writeFileSync(join(root, 's', name), '');
  return {
    agent,
    workspace: join(root, 'w'),
    spoolFile: join(root, 's/out'),
    stderrFile: join(root, 's/err'),
    socket: join(root, 'k/x'),
    filesDir: join(root, 'h/.frs'),
    home: join(root, 'h'),
    configDir: join(root, 'h/.claude'),
    proxyPort: await freePort(),
  };
}

function readLines(file: string): Record<string, unknown>[] {
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Record<string, unknown>); // agent.mjs prints only objects
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
