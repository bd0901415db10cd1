import { chatReply } from './chat-reply.ts';
import { commandReply } from './command-reply.ts';
import type { Conversation } from './conversation.ts';
import { fileReply } from './file-reply.ts';
import { message, type Reply, say } from './reply.ts';
import { findScript, type Step } from './script.ts';
import { scriptedReply } from './scripted-reply.ts';
import { sideReply } from './side-reply.ts';
import { structuredReply } from './structured-reply.ts';

interface Circumstances {
  /** How often this very reply was asked for before: faults of a script happen a given number of times. */
  attempt: number;
  /** Used where the prompt brings no script of its own. */
  fallbackScript?: readonly Step[];
}

/** What the model says next: decided by the conversation alone. */
export function nextReply(conversation: Conversation, circumstances: Circumstances): Reply {
  const side = sideReply(conversation);
  if (side !== undefined) return side;
  if (conversation.isNotification) return message([say('What ran in the background has ended.')]);
  const script = findScript(conversation.prompt);
  if (script !== undefined && 'unreadable' in script) {
    return message([say(`The script in this prompt cannot be read: ${script.unreadable}`)]);
  }
  const steps = script?.steps ?? circumstances.fallbackScript;
  if (steps !== undefined) return scriptedReply(steps, conversation, circumstances.attempt);
  const reply = fileReply(conversation) ?? commandReply(conversation) ?? chatReply(conversation);
  return structuredReply(conversation, reply);
}
