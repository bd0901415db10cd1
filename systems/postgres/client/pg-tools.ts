// Postgres' client programs, of the server's version or a later one; an earlier pg_dump refuses the
// server. They receive the password through their environment, because command lines are public.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface PgTools {
  /** Starts a program. The caller reads its output and writes its input. */
  start(program: PgTool, args: string[]): PgToolProcess;
}

interface PgToolProcess {
  input: Writable;
  output: Readable;
  /** Rejects with the error output if the program fails. */
  ended: Promise<void>;
}

const programs = ['pg_dump', 'pg_restore', 'psql'] as const;
type PgTool = (typeof programs)[number];

class PgToolsMissing extends Error {
  override name = 'NoClientPrograms';
}

interface PgToolOptions {
  databaseUrl: string;
  /** PATH, and other variables that the programs receive. */
  env: Readonly<Record<string, string | undefined>>;
}

/** The first folder with programs at least as new as the server; its own version is preferred. */
export async function findPgTools(
  { databaseUrl, env }: PgToolOptions,
  serverMajor: number,
): Promise<PgTools> {
  const found: { folder: string; major: number }[] = [];
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (!programs.every((program) => isExecutable(join(folder, program)))) continue;
    const major = await majorOf(join(folder, 'pg_dump'), env);
    found.push({ folder, major });
    if (major === serverMajor) break;
  }
  const usable = found.filter(({ major }) => major >= serverMajor);
  const chosen = usable.sort((a, b) => a.major - b.major)[0];
  if (chosen === undefined) throw new PgToolsMissing(missingMessage(found, serverMajor));
  return { start: (program, args) => start(join(chosen.folder, program), args, connection()) };

  function connection(): { url: string; env: PgToolOptions['env'] } {
    const url = new URL(databaseUrl);
    const password = decodeURIComponent(url.password);
    url.password = '';
    return { url: url.href, env: { ...env, PGPASSWORD: password } };
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** 0 if the output has no version. */
async function majorOf(program: string, env: PgToolOptions['env']): Promise<number> {
  const child = spawn(program, ['--version'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', () => undefined);
  return Number(/ (\d+)/.exec(await text(child.stdout))?.[1] ?? 0);
}

function missingMessage(found: { major: number }[], serverMajor: number): string {
  const newest = Math.max(...found.map(({ major }) => major));
  const there =
    found.length === 0
      ? 'pg_dump, pg_restore and psql are not on the PATH.'
      : `The newest pg_dump here is of Postgres ${newest}, the server is ${serverMajor}.`;
  return (
    `${there} Those of version ${serverMajor} are needed ` +
    `(Debian: postgresql-client-${serverMajor}, in /usr/lib/postgresql/${serverMajor}/bin).`
  );
}

/** `{}` in the arguments is replaced by the connection URL. */
function start(
  program: string,
  args: string[],
  { url, env }: { url: string; env: PgToolOptions['env'] },
): PgToolProcess {
  const resolved = args.map((arg) => (arg === '{}' ? `--dbname=${url}` : arg));
  const child = spawn(program, resolved, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = untilExit(child, program);
  ended.catch(() => undefined); // asked for later
  // The exit of the program explains the failure better than the closed pipe.
  child.stdin.on('error', () => undefined);
  return { input: child.stdin, output: child.stdout, ended };
}

async function untilExit(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  program: string,
): Promise<void> {
  const code = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [status, stderr] = await Promise.all([code, text(child.stderr)]);
  if (status !== 0)
    throw new Error(`${program} failed: ${stderr.trim().slice(-2_000) || String(status)}`);
}
