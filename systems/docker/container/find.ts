import { sandboxName } from '../../../core/sandbox/sandbox-name.ts';
import type { Engine } from '../engine.ts';
import { labelNames } from '../labels.ts';
import { findContainer } from './inspect.ts';
import { type ListedSandbox, listed } from './list.ts';

/**
 * Finds a sandbox by its name, which is faster than a list on an engine with many containers. Null
 * if there is none, or if the container with this name has other labels.
 */
export async function find(
  engine: Engine,
  { runId, generation }: { runId: string; generation: number },
): Promise<ListedSandbox | null> {
  const { instance } = engine;
  const found = await findContainer(engine, sandboxName({ instance, runId, generation }));
  if (found === null) return null;
  const { Labels } = found.Config;
  const sandbox = listed({ Id: found.Id, Labels, State: found.State.Status });
  const isIt = sandbox.runId === runId && sandbox.generation === generation;
  return isIt && Labels[labelNames.instance] === instance ? sandbox : null;
}
