import { numberAt, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { addCost, emitBlock, say } from '../turn.ts';

/** Saying things, and saying what the agent was given. */
export const speechSteps: Handlers = {
  say: (step, turn) => say(turn, textAt(step, 'say')),
  think: (step, turn) =>
    emitBlock(turn, {
      type: 'thinking',
      thinking: textAt(step, 'think'),
      signature: 'c2NyaXB0ZWQ=',
    }),
  env: (step, turn) => {
    const name = textAt(step, 'env');
    const value = process.env[name];
    say(turn, value === undefined ? `${name} is not set` : `${name}=${value}`);
  },
  argv: (_, turn) => say(turn, JSON.stringify(process.argv.slice(2))),
  systemPrompt: (_, turn) => say(turn, turn.session.systemPrompt),
  mcpServers: (_, turn) => say(turn, JSON.stringify(turn.session.mcpServers)),
  /** All messages of the conversation, earlier processes' included. */
  recall: (_, turn) => say(turn, JSON.stringify(turn.session.messages)),
  costUsd: (step, turn) => addCost(turn, numberAt(step, 'costUsd')),
  raw: (step, turn) => turn.output.bytes(`${textAt(step, 'raw')}\n`),
  /** Bytes as they are, without a newline: for what is no text or no whole line. */
  rawBase64: (step, turn) => turn.output.bytes(Buffer.from(textAt(step, 'rawBase64'), 'base64')),
  stderr: (step) => void process.stderr.write(`${textAt(step, 'stderr')}\n`),
};
