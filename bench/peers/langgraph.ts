import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addPieces, createSightings } from '../service/sightings.ts';
import { installPython, type Peer, postJson, readText, timeTurn } from './peer.ts';

export const langgraph: Peer = {
  id: 'langgraph',
  name: 'LangGraph dev server 0.16.7',
  install: (folder) =>
    installPython(folder, [
      ...['langgraph-cli[inmem]==0.4.40', 'langgraph-api==0.16.7'],
      ...['langgraph-runtime-inmem==0.36.7', 'langgraph==1.2.22'],
    ]),
  program({ installed, dataDir, modelUrl, port }) {
    const config = { dependencies: ['.'], graphs: { turn: './graph.py:graph' } };
    writeFileSync(join(dataDir, 'langgraph.json'), JSON.stringify(config));
    writeFileSync(join(dataDir, 'graph.py'), graph);
    return {
      command: join(installed, 'bin/python'),
      args: ['-m', 'langgraph_cli', 'dev', '--no-browser', '--no-reload', '--port', port],
      env: { LANGGRAPH_CLI_NO_ANALYTICS: '1', LANGSMITH_TRACING: 'false', MODEL_URL: modelUrl },
    };
  },
  async open(url) {
    const opened = await postJson(`${url}/threads`, {});
    const { thread_id: id } = (await opened.json()) as { thread_id: string }; // documented by the peer
    return async ({ prompt, text }) => {
      const seen = createSightings();
      const run = { assistant_id: 'turn', input: { prompt }, stream_mode: 'updates' };
      let ended: Promise<void> | undefined;
      const times = await timeTurn(seen, {
        // The response is the stream. Its headers say that the run is accepted.
        async post() {
          const response = await postJson(`${url}/threads/${id}/runs/stream`, run);
          ended = readText(response, addPieces(seen, '\n'));
        },
        isText: (line) => line.includes(text),
      });
      await ended;
      return times;
    };
  },
};

/** One node, which calls the model once. */
const graph = `
import os, typing, httpx
from langgraph.graph import START, StateGraph

State = typing.TypedDict("State", {"prompt": str, "answer": str})
client = httpx.AsyncClient(base_url=os.environ["MODEL_URL"], headers={"x-api-key": "peer"})

async def model(state: State):
    messages = [{"role": "user", "content": state["prompt"]}]
    body = {"model": "offline-model", "max_tokens": 1024, "messages": messages}
    response = await client.post("/v1/messages", json=body)
    return {"answer": response.json()["content"][0]["text"]}

graph = StateGraph(State).add_node("model", model).add_edge(START, "model").compile()
`;
