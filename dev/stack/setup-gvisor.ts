// `npm run setup:gvisor` installs gVisor and registers it as a runtime of the local stack's engine.
// If the stack uses the machine's engine, it prints what to configure there.

import { print } from '../lib/progress.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { hasRuntime } from './engine-api.ts';
import { ensureEngine, ensureRuntime, isOurEngine } from './servers/engine.ts';
import { ensureGvisor, gvisorEntry, gvisorName } from './servers/gvisor.ts';

const installed = '/usr/local/bin/runsc';

const howToUse = `
Workers that start from now on use gVisor, because SANDBOX_RUNTIME defaults to auto. Set
SANDBOX_RUNTIME=runsc to require gVisor, or SANDBOX_RUNTIME=runc to disable it.`;

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
The engine at ${socket} does not belong to Flowrun, and lacks gVisor or its required arguments. As root:

  install -m 755 ${program} ${installed}

Add this to its configuration, usually /etc/docker/daemon.json:

${indented({ runtimes: { [gvisorName]: gvisorEntry(installed) } })}

Then run \`systemctl reload docker\`, which does not affect containers, and restart the workers.`;
}

function indented(value: object): string {
  return JSON.stringify(value, null, 2).replaceAll(/^/gm, '  ');
}
