import { callEngine } from './engine-api.ts';

const instanceLabel = 'frs.instance';

/** Removes the containers of the instances that are ours, running or not, and counts them. */
export async function removeSandboxes(
  socket: string,
  isOurs: (instance: string) => boolean,
): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [instanceLabel] }));
  const { text } = await callEngine(socket, { path: `/containers/json?all=1&filters=${filters}` });
  const all = JSON.parse(text) as { Id: string; Labels: Record<string, string> }[]; // documented shape
  const ours = all.filter(({ Labels }) => isOurs(Labels[instanceLabel] ?? ''));
  for (const { Id } of ours) {
    await callEngine(socket, { method: 'DELETE', path: `/containers/${Id}?force=1&v=1` });
  }
  return ours.length;
}
