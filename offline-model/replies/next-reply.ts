import type { Conversation } from '../conversation.ts';
import { message, type Reply, say } from '../reply.ts';
import { findScript, type Step } from '../script.ts';
import { chatReply } from './chat-reply.ts';
import { commandReply } from './command-reply.ts';
import { fileReply } from './file-reply.ts';
import { scriptedReply } from './scripted-reply.ts';
import { sideReply } from './side-reply.ts';
import { structuredReply } from './structured-reply.ts';

interface ReplyOptions {
  /**
   * How often this reply was requested before. A scripted fault occurs a limited number of times.
   */
  attempt: number;
  /** Used if the prompt contains no script. */
  fallbackScript?: readonly Step[];
}

/** Computes the next reply from the conversation alone. */
export function nextReply(conversation: Conversation, options: ReplyOptions): Reply {
  const side = sideReply(conversation);
  if (side !== undefined) return side;
  if (conversation.isNotification) return message([say('What ran in the background has ended.')]);
  const script = findScript(conversation.prompt);
  if (script !== undefined && 'unreadable' in script) {
    return message([say(`The script in this prompt cannot be read: ${script.unreadable}`)]);
  }
  const steps = script?.steps ?? options.fallbackScript;
  if (steps !== undefined) return scriptedReply(steps, conversation, options.attempt);
  const reply = fileReply(conversation) ?? commandReply(conversation) ?? chatReply(conversation);
  return structuredReply(conversation, reply);
}
