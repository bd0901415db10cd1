import type { Conversation } from '../conversation.ts';
import { callTool, type MessageReply, message, say } from '../reply.ts';
import { exampleOfSchema } from './example-of-schema.ts';
import { shortened } from './words.ts';

const toolName = 'StructuredOutput';

/** If the request offers a tool for structured answers, the last reply of the turn calls it. */
export function structuredReply(conversation: Conversation, reply: MessageReply): MessageReply {
  const schema = conversation.tools.get(toolName);
  if (schema === undefined || reply.stopReason !== 'end_turn') return reply;
  const calls = conversation.calls.filter((call) => call.name === toolName);
  if (calls.length > 0) return message([say('The structured answer is given.')]);
  const answer = exampleOfSchema(schema, shortened(conversation.prompt, 60));
  const input = typeof answer === 'object' && answer !== null ? { ...answer } : {};
  return message([...reply.parts, callTool(toolName, input)]);
}
