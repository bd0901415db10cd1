import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import type { Fields } from '../../fixtures/scripted-agent/json.ts';

/** The scripted agent as a local process, for its own tests. */
interface AgentProcess {
  send(line: unknown): void;
  sendText(text: string): void;
  closeInput(): void;
  kill(signal: NodeJS.Signals): void;
  /** Creates an empty file in the agent's working directory. */
  touch(name: string): void;
  /** Resolves with the first matching line, past or future. */
  waitFor(fits: (line: Fields) => boolean): Promise<Fields>;
  lines(): readonly Fields[];
  rawOutput(): Buffer;
  errors(): string;
  endsWithin(ms: number): Promise<boolean>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

interface AgentOptions {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The folder of conversations. The same folder simulates the same sandbox after a restart. */
  folder?: string;
}

/** Built once, because a start from source takes half a second longer. */
const [bundle] = buildSync({
  entryPoints: [join(repository, 'test/fixtures/scripted-agent/main.ts')],
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
}).outputFiles;

const agentOptions = [
  '-p',
  '--verbose',
  ...['--output-format', 'stream-json', '--input-format', 'stream-json'],
  ...['--replay-user-messages', '--dangerously-skip-permissions', '--strict-mcp-config'],
  ...['--setting-sources', 'user'],
];

/** Node's arguments to start the agent as a run does. */
export const agentCommand = (folder: string): string[] => [programOf(folder), ...agentOptions];

/** A working directory for the agent. The agent's program is beside it. Removed after the test. */
export function newFolder(): string {
  const base = mkdtempSync(join(tmpdir(), 'scripted-agent-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, 'w');
  mkdirSync(folder);
  writeFileSync(programOf(folder), bundle?.contents ?? '');
  return folder;
}

const programOf = (folder: string): string => join(folder, '../agent.mjs');

export function startAgent({
  args = [],
  env = {},
  folder = newFolder(),
}: AgentOptions = {}): AgentProcess {
  const child = spawn(process.execPath, [...agentCommand(folder), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: folder,
    env: { ...process.env, HOME: folder, CLAUDE_CONFIG_DIR: join(folder, '.claude'), ...env },
  });
  child.stdin.on('error', () => {});
  const output = collect(child);
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({
    code: typeof code === 'number' ? code : null,
    signal: typeof signal === 'string' ? (signal as NodeJS.Signals) : null,
  }));
  return {
    ...output,
    ended,
    endsWithin: (ms) => Promise.race([ended.then(() => true), sleep(ms, false)]),
    send: (line) => child.stdin.write(`${JSON.stringify(line)}\n`),
    sendText: (text) => child.stdin.write(text),
    closeInput: () => child.stdin.end(),
    kill: (signal) => child.kill(signal),
    touch: (name) => writeFileSync(join(folder, name), ''),
  };
}

/** Sends one prompt, closes the input, and waits for the end. */
export async function runAgent(prompt: string, options: AgentOptions = {}) {
  const agent = startAgent(options);
  agent.send(userMessage(prompt));
  agent.closeInput();
  const { code } = await agent.ended;
  return { code, lines: agent.lines(), raw: agent.rawOutput(), errors: agent.errors() };
}

let messageCount = 0;

export function userMessage(content: string, uuid = nextUuid()): Fields {
  return { type: 'user', message: { role: 'user', content }, uuid };
}

export function nextUuid(): string {
  messageCount += 1;
  return `00000000-0000-4000-8000-${String(messageCount).padStart(12, '0')}`;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function collect(child: Child) {
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  const lines: Fields[] = [];
  const watchers = new Set<(line: Fields) => void>();
  let rest = '';
  child.stderr.on('data', (piece: Buffer) => errors.push(piece));
  const decoder = new StringDecoder('utf8');
  child.stdout.on('data', (piece: Buffer) => {
    output.push(piece);
    const parts = `${rest}${decoder.write(piece)}`.split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts.flatMap(parsed)) {
      lines.push(line);
      for (const watcher of watchers) watcher(line);
    }
  });
  return {
    lines: () => lines,
    rawOutput: () => Buffer.concat(output),
    errors: () => Buffer.concat(errors).toString('utf8'),
    waitFor: async (fits: (line: Fields) => boolean) =>
      lines.find(fits) ??
      (await new Promise<Fields>((resolve) => {
        const watcher = (line: Fields) => {
          if (!fits(line)) return;
          watchers.delete(watcher);
          resolve(line);
        };
        watchers.add(watcher);
      })),
  };
}

function parsed(text: string): Fields[] {
  try {
    return [JSON.parse(text) as Fields];
  } catch {
    return [];
  }
}
