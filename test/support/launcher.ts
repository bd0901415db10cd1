import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repository } from '../../dev/lib/folders.ts';

const copied = ['dev/launch.mjs', 'dev/from-source/base-image/package-lock.json'];
const program = `
import { execFileSync } from 'node:child_process';
const child: string = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
const [action, value] = process.argv.slice(2);
if (action === 'wait') {
  process.on('SIGTERM', () => process.exit(42));
  setInterval(() => {}, 1000);
}
console.log(JSON.stringify({ node: process.version, child, args: process.argv.slice(2) }));
if (action === 'exit') process.exit(Number(value));
if (action === 'die') process.kill(process.pid, 'SIGKILL');`;

interface Report {
  node?: string;
  child?: string;
  args?: string[];
}

/** A checkout with the launcher and a program that reports how it was started. */
export function createLauncher(folder: string, node: string) {
  const checkout = join(folder, 'checkout');
  const cache = join(folder, 'cache');
  for (const file of copied) cpSync(join(repository, file), join(checkout, file));
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
  writeFileSync(join(checkout, 'package-lock.json'), '{"packages":{}}');
  writeFileSync(join(checkout, 'program.ts'), program);

  function start(args: string[], env: Record<string, string> = {}, bin?: string) {
    const line = bin === undefined ? [join(checkout, 'dev/launch.mjs'), 'program.ts'] : [bin];
    return spawn(node, [...line, ...args], {
      env: { ...process.env, FLOWRUN_CACHE: cache, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async function launch(args: string[], env: Record<string, string> = {}, bin?: string) {
    const child = start(args, env, bin);
    const ended = once(child, 'close');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]; // documented by child_process
    const report = (out === '' ? {} : JSON.parse(out)) as Report; // the program's own output
    return { code, signal, err, report };
  }

  return { checkout, start, launch };
}
