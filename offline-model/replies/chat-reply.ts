import type { Conversation } from '../conversation.ts';
import { type MessageReply, message, say } from '../reply.ts';
import { quoted, shortened } from './words.ts';

const asksAboutEarlier =
  /\b(what|which|who|where|when)\b[^?.!]*\b(did i|do i|have i|i said|i told|i asked|my|remember|you remember|was the|is the|earlier|before|last|first)\b|\bdo you remember\b|\brepeat what\b/i;

/** Replies to small talk: repeats remembered facts and earlier prompts, or quotes the prompt. */
export function chatReply({ prompt, earlierPrompts, tools }: Conversation): MessageReply {
  const toRemember = factIn(prompt);
  if (toRemember !== undefined && !prompt.includes('?')) {
    return message([say(`I will remember: ${toRemember}.`)]);
  }
  if (asksAboutEarlier.test(prompt)) return message([say(recall(earlierPrompts))]);
  return message([say(answer(prompt, earlierPrompts.length, tools.size))]);
}

function factIn(prompt: string): string | undefined {
  const asked = /\bremember(?:\s+that)?[\s:]+([^\n]+?)[.!\s]*$/im.exec(prompt);
  const stated = /\b(my [a-z ]+ is [^\n.!?]+)/i.exec(prompt);
  return asked?.[1] ?? stated?.[1];
}

function recall(earlierPrompts: readonly string[]): string {
  if (earlierPrompts.length === 0) return 'This is the first thing you have said to me.';
  const facts = earlierPrompts.flatMap((prompt) =>
    prompt.includes('?') ? [] : (factIn(prompt) ?? []),
  );
  const said = earlierPrompts.map((prompt, index) => `${index + 1}. ${quoted(prompt)}`).join('\n');
  const remembered = facts.length === 0 ? '' : `You asked me to remember: ${facts.join('; ')}.\n`;
  return `${remembered}So far you have said:\n${said}`;
}

function answer(prompt: string, earlier: number, tools: number): string {
  const position = earlier === 0 ? 'the first message' : `message ${earlier + 1}`;
  return [
    `You wrote: ${quoted(prompt)}`,
    `That is ${position} of our conversation, ${prompt.length} characters long, and I was offered ${tools} tools for it.`,
    'I am the offline model: I answer by fixed rules and need no network.',
    `Ask me to write a file, for example ${exampleFile(prompt)}, and I will make it with the agent's own tools.`,
  ].join(' ');
}

function exampleFile(prompt: string): string {
  const word = /[a-z]{4,}/i.exec(shortened(prompt, 80))?.[0] ?? 'notes';
  return `${word.toLowerCase()}.md`;
}
