// An isolated machine in namespaces of this one: its own processes, mounts, a network behind a
// user-mode router, and a Docker Engine on the default socket. It ends with the process that
// started it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from '../../lib/apt.ts';
import { isRoot, repository } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { pingEngine } from '../../stack/engine-api.ts';

export interface Machine {
  /** The path of the engine's socket outside the namespaces. */
  socket: string;
  /** The prefix that runs a command inside. */
  enter(folder: string): [string, ...string[]];
  stop(): Promise<void>;
}

const readyTimeoutMs = 60_000;
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const needed = { dockerd: 'docker.io', slirp4netns: 'slirp4netns', unshare: 'util-linux' };
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** `programs` is a folder with an engine to use in place of the installed one. */
export function startMachine(home: string, programs?: string): Promise<Machine> {
  return step('machine', async (progress) => {
    if (!isRoot) throw new SetupError('Only root may start an isolated machine.');
    for (const [program, from] of Object.entries(needed)) {
      if (findOnPath(program, systemFolders) === undefined) await installPackages([from], progress);
    }
    mkdirSync(home, { recursive: true });
    const outer = spawn('unshare', [...namespaces, '--', ...firstProcess(home)], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, PATH: [programs, process.env.PATH].filter(Boolean).join(delimiter) },
    });
    const pid = await childOf(outer);
    const router = spawn(
      'slirp4netns',
      ['--configure', '--mtu=65520', '--disable-host-loopback', pid, 'tap0'],
      { stdio: 'ignore' },
    );
    const machine = {
      socket: `/proc/${pid}/root/run/docker.sock`,
      enter: (folder: string): [string, ...string[]] => [
        'nsenter',
        `--target=${pid}`,
        '--net',
        '--mount',
        '--pid',
        `--wdns=${folder}`,
        '--',
      ],
      stop: () => stop(outer, router),
    };
    await untilReady(machine.socket, outer);
    await removeContainers(machine);
    return { value: machine, summary: 'started, with its own engine' };
  });
}

/**
 * `cat` keeps it running until its input closes, which happens at the latest when this process
 * ends.
 */
function firstProcess(home: string): string[] {
  const settings = join(home, 'docker.json');
  const engineSettings = {
    'data-root': join(home, 'docker'),
    'exec-root': '/run/docker-exec',
    pidfile: '/run/dockerd.pid',
    hosts: ['unix:///run/docker.sock'],
    dns: ['10.0.2.3'],
  };
  writeFileSync(settings, `${JSON.stringify(engineSettings, null, 2)}\n`);
  return [join(repository, 'dev/test-runner/compose/machine.sh'), settings, 'cat'];
}

async function childOf({ pid }: ChildProcess): Promise<string> {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    const file = `/proc/${pid}/task/${pid}/children`;
    const child = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    if (child !== '') return child;
    await sleep(50);
  }
  throw new Error('unshare started nothing');
}

async function untilReady(socket: string, outer: ChildProcess): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  while (!(await pingEngine(socket))) {
    if (outer.exitCode !== null) throw new Error(`the machine ended with ${outer.exitCode}`);
    if (Date.now() > deadline)
      throw new Error(`the engine of the machine did not answer within ${readyTimeoutMs} ms`);
    await sleep(200);
  }
}

/** Removes everything of an earlier run except the build cache and base images. */
async function removeContainers({ enter }: Pick<Machine, 'enter'>): Promise<void> {
  const script = `
    docker ps -aq | xargs -r docker rm -fv
    docker volume ls -q | xargs -r docker volume rm
    docker network prune -f
    docker images -q --filter reference='flowrun*:local' | xargs -r docker rmi -f --no-prune`;
  const [command, ...args] = enter('/');
  await runCommand(command, [...args, 'sh', '-c', script]);
}

async function stop(outer: ChildProcess, router: ChildProcess): Promise<void> {
  const exit = outer.exitCode === null ? once(outer, 'exit') : Promise.resolve();
  outer.stdin?.end();
  await Promise.race([exit, sleep(readyTimeoutMs, undefined, { ref: false })]);
  outer.kill('SIGKILL');
  router.kill('SIGTERM');
}
