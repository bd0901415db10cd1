import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repository } from '../../dev/lib/folders.ts';
import { findOnPath, runCommand } from '../../dev/lib/run-command.ts';
import { addPieces, createSightings } from '../service/sightings.ts';
import { type Peer, postJson, readText, timeTurn } from './peer.ts';

const version = '0.10.0';
const goModule = 'github.com/coder/agentapi';
const key = 'peer';
const pollMs = 50;

export const agentapi: Peer = {
  id: 'agentapi',
  name: `coder agentapi ${version}`,
  async install(folder) {
    writeFileSync(join(folder, 'go.mod'), `module peer\n\nrequire ${goModule} v${version}\n`);
    const go = findOnPath('go', ['/usr/local/go/bin', '/usr/lib/go/bin']) ?? 'go';
    const env = { ...process.env, GOFLAGS: '-mod=mod' };
    await runCommand(go, ['build', '-o', 'agentapi', goModule], { cwd: folder, env });
    // The same agent as in the sandboxes.
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(repository, 'sandbox', file), join(folder, file));
    await runCommand('npm', ['ci', '--ignore-scripts', '--omit=dev'], { cwd: folder });
  },
  program({ installed, dataDir, modelUrl, port }) {
    const config = JSON.stringify(agentConfig(dataDir));
    writeFileSync(join(dataDir, '.claude.json'), config);
    const agentPackage = `node_modules/@anthropic-ai/claude-code-linux-${process.arch}`;
    return {
      command: join(installed, 'agentapi'),
      args: ['server', '--port', port, '--', join(installed, agentPackage, 'claude')],
      env: {
        TERM: 'xterm-256color',
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: key,
        DISABLE_AUTOUPDATER: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    };
  },
  async open(url) {
    const seen = createSightings();
    readText(await fetch(`${url}/events`), addPieces(seen, '\n\n')).catch(() => undefined); // ends with the peer
    await untilStable(url);
    return async ({ prompt, text }) => {
      const message = { type: 'user', content: prompt };
      const times = await timeTurn(seen, {
        post: async () => (await postJson(`${url}/message`, message)).text(),
        isText: (event) => event.includes(`● ${text}`), // the terminal shows the prompt too
      });
      await untilStable(url);
      return times;
    };
  },
};

/** Answers the questions that the agent asks in its terminal at its first start. */
const agentConfig = (dataDir: string) => ({
  hasCompletedOnboarding: true,
  theme: 'dark',
  customApiKeyResponses: { approved: [key], rejected: [] },
  projects: { [dataDir]: { hasTrustDialogAccepted: true } },
});

async function untilStable(url: string): Promise<void> {
  while (!(await (await fetch(`${url}/status`)).text()).includes('"stable"')) await sleep(pollMs);
}
