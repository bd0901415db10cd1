// Puts gVisor where sandboxes may run on it: the program, and its entry among the runtimes of the
// engine that the local stack uses. An engine of the machine's own is not touched: what it needs is said.

import { print } from '../lib/progress.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { hasRuntime } from './engine-api.ts';
import { ensureEngine, ensureRuntime, isOurEngine } from './servers/engine.ts';
import { ensureGvisor, gvisorEntry, gvisorName } from './servers/gvisor.ts';

const installed = '/usr/local/bin/runsc';

const howToUse = `
Sandboxes of workers that are started from now on run on gVisor: SANDBOX_RUNTIME is auto where nothing
is set. SANDBOX_RUNTIME=runsc insists on it, SANDBOX_RUNTIME=runc does without.`;

await setUp().catch(exitWithError);

async function setUp(): Promise<void> {
  const program = await ensureGvisor();
  const socket = await ensureEngine(process.env.DOCKER_HOST);
  if (isOurEngine(socket)) await ensureRuntime(gvisorName, gvisorEntry(program));
  if (await hasRuntime(socket, gvisorName, gvisorEntry(program))) print(howToUse);
  else print(howToRegister(socket, program));
}

function howToRegister(socket: string, program: string): string {
  return `
The engine at ${socket} is this machine's own and does not have gVisor, or not as sandboxes need it. As root:

  install -m 755 ${program} ${installed}

Put this into its configuration, mostly /etc/docker/daemon.json:

${indented({ runtimes: { [gvisorName]: gvisorEntry(installed) } })}

Then \`systemctl reload docker\`, which leaves containers alone, and start the workers again.`;
}

function indented(value: object): string {
  return JSON.stringify(value, null, 2).replaceAll(/^/gm, '  ');
}
