// Clients choose the names of receivers, and with them the name servers that the worker waits for.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const nameServer = '127.0.0.99';
const program = join(import.meta.dirname, 'silent-name-server.ts');

/** Sends to the names in a mount namespace with another name server and hosts file. */
async function sendTo(hosts: string[], hostsFile: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'names-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'resolv.conf'), `nameserver ${nameServer}\n`);
  writeFileSync(join(folder, 'hosts'), hostsFile);
  const mounts = ['resolv.conf', 'hosts'].map(
    (name) => `mount --bind ${folder}/${name} /etc/${name}`,
  );
  const command = [...mounts, 'exec "$@"'].join(' && ');
  const args = [process.execPath, program, nameServer, hosts.join(',')];
  const { stdout } = await promisify(execFile)('unshare', [
    '-m',
    'sh',
    '-c',
    command,
    'sh',
    ...args,
  ]);
  return JSON.parse(stdout);
}

test('a name server that does not answer delays the attempts to reach no other name', async () => {
  const unanswered = Array.from({ length: 16 }, (_, n) => `receiver-${n}.example.com`);
  const hosts = '# receivers\n10.1.2.3 first.example second.example # inside\nthird.example\n';
  expect(await sendTo([...unanswered, 'second.example'], hosts)).toEqual([
    ...unanswered.map(() => ({ outcome: 'failed', reason: 'timed_out' })),
    { outcome: 'blocked', reason: 'its address is not public' },
  ]);
});
