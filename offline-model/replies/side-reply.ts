import type { Conversation } from '../conversation.ts';
import { type MessageReply, message, say } from '../reply.ts';
import { exampleOfSchema } from './example-of-schema.ts';
import { shortened } from './words.ts';

const probes = new Set(['quota', 'count', 'warmup', 'test', 'foo']);
const titles = /\btitle\b.*\b(session|conversation|coding|chat)\b|\bnew conversation topic\b/is;
const maxSystemLength = 6_000;

/**
 * Replies briefly to the agent CLI's own requests (a quota probe, a title, a topic). They offer no
 * tools, and may quote the user's prompt, whose script must not run here.
 */
export function sideReply(conversation: Conversation): MessageReply | undefined {
  const { tools, prompt, system, outputSchema } = conversation;
  if (outputSchema !== undefined) return structuredText(conversation);
  if (tools.size > 0) return undefined;
  if (probes.has(prompt.trim().toLowerCase())) return message([say('ok')]);
  if (system.length < maxSystemLength && titles.test(system)) {
    return message([say(shortened(prompt, 40))]);
  }
  return undefined;
}

function structuredText({ prompt, outputSchema }: Conversation): MessageReply {
  return message([say(JSON.stringify(exampleOfSchema(outputSchema, shortened(prompt, 40))))]);
}
