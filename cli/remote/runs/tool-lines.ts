import type { RunEvent } from '../../../client/index.ts';
import { renderLine } from '../../../core/frames/render.ts';
import { isObject, type JsonObject, listIn, objectIn } from '../../../core/json.ts';

/** The calls of tools in an event of the agent, as a terminal shows them. */
export function toolLines({ type, data }: RunEvent): string[] {
  if (type !== 'assistant' || !isObject(data)) return [];
  const message: JsonObject = objectIn(data, 'message');
  const calls = listIn(message, 'content').filter(
    (block) => isObject(block) && block['type'] === 'tool_use',
  );
  if (calls.length === 0) return [];
  return [renderLine({ type, message: { content: calls } }).trimEnd()];
}
