import { join } from 'node:path';
import { createSightings } from '../service/sightings.ts';
import { installPython, type Peer, postJson, timeTurn } from './peer.ts';

const version = '1.57.0';
const packages = ['openhands-agent-server', 'openhands-sdk', 'openhands-tools'];

export const openhands: Peer = {
  id: 'openhands',
  name: `OpenHands agent-server ${version}`,
  install: (folder) =>
    installPython(
      folder,
      packages.map((each) => `${each}==${version}`),
    ),
  program: ({ installed, port }) => ({
    command: join(installed, 'bin/python'),
    args: ['-m', 'openhands.agent_server', '--host', '127.0.0.1', '--port', port],
    env: { DO_NOT_TRACK: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True', OH_ENABLE_VSCODE: 'false' },
  }),
  async open(url, { dataDir, modelUrl }) {
    const model = { model: 'anthropic/offline-model', base_url: modelUrl, api_key: 'peer' };
    const opened = await postJson(`${url}/api/conversations`, {
      agent: { kind: 'Agent', llm: { usage_id: 'peer', ...model }, tools: [] },
      autotitle: false,
      workspace: { working_dir: join(dataDir, 'workspace') },
    });
    const { id } = (await opened.json()) as { id: string }; // documented by the peer
    const events = `${url}/api/conversations/${id}/events`;
    const seen = createSightings();
    const socket = new WebSocket(`${url.replace('http', 'ws')}/sockets/events/${id}`);
    socket.addEventListener('message', ({ data }) => seen.add(String(data)));
    await seen.until((event) => event.includes('"full_state"'));
    return async ({ prompt, text }) => {
      const from = seen.count();
      const message = { role: 'user', content: [{ type: 'text', text: prompt }], run: true };
      const times = await timeTurn(seen, {
        post: async () => (await postJson(events, message)).text(),
        isText: (event) => event.includes('"source":"agent"') && event.includes(text),
      });
      await seen.until((event) => event.includes('"value":"finished"'), from);
      return times;
    };
  },
};
