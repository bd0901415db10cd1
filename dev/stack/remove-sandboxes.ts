import { callEngine } from './engine-api.ts';

const instanceLabel = 'frs.instance';

/**
 * Removes the sandboxes whose files are in a stack's folder, running or not, and returns their
 * number. The folder distinguishes them from sandboxes of other stacks on the same engine.
 */
export async function removeSandboxes(socket: string, data: string): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [instanceLabel] }));
  const { text } = await callEngine(socket, { path: `/containers/json?all=1&filters=${filters}` });
  const all = JSON.parse(text) as Container[]; // the engine's documented shape
  const sandboxes = all.filter(({ Mounts }) =>
    Mounts.some(({ Source }) => Source?.startsWith(`${data}/`)),
  );
  for (const { Id } of sandboxes) {
    await callEngine(socket, { method: 'DELETE', path: `/containers/${Id}?force=1&v=1` });
  }
  return sandboxes.length;
}

interface Container {
  Id: string;
  Mounts: { Source?: string }[];
}
