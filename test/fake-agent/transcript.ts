import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fields, isFields } from './json.ts';
import type { UserMessage } from './user-message.ts';

/** What a conversation has left behind on disk; a resumed one goes on from it. */
export interface Transcript {
  exists: boolean;
  lineCount: number;
  /** Messages that an assistant has answered, at least in part: these are never run again. */
  answered: ReadonlySet<string>;
  messages: readonly string[];
  costUsd: number;
  appendedSystemPrompt: string | undefined;
  addMessage(message: UserMessage): void;
  addAssistant(message: Fields): void;
  addCost(costUsd: number): void;
  addSystemPrompt(text: string): void;
}

export function openTranscript(sessionId: string): Transcript {
  const configFolder =
    process.env['CLAUDE_CONFIG_DIR'] ?? join(process.env['HOME'] ?? '/', '.claude');
  const folder = join(configFolder, 'projects', process.cwd().replace(/[^a-zA-Z0-9]/g, '-'));
  const path = join(folder, `${sessionId}.jsonl`);
  const exists = existsSync(path);
  const lines = exists ? readLines(path) : [];
  const add = (line: Fields) => {
    mkdirSync(folder, { recursive: true });
    appendFileSync(path, `${JSON.stringify({ ...line, sessionId })}\n`);
  };
  return {
    exists,
    lineCount: lines.length,
    ...whatLinesSay(lines),
    addMessage: ({ uuid, text }) =>
      add({ type: 'user', uuid, message: { role: 'user', content: text } }),
    addAssistant: (message) => add({ type: 'assistant', message }),
    addCost: (totalCostUSD) => add({ type: 'cost-state', totalCostUSD }),
    addSystemPrompt: (appended) => add({ type: 'prompt-snapshot', appended }),
  };
}

/** A line torn by a crash is passed over. */
function readLines(path: string): Fields[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isFields(value) ? [value] : [];
      } catch {
        return [];
      }
    });
}

function whatLinesSay(lines: readonly Fields[]) {
  const answered = new Set<string>();
  const messages: string[] = [];
  let waiting: string[] = [];
  let costUsd = 0;
  let appendedSystemPrompt: string | undefined;
  for (const line of lines) {
    if (line['type'] === 'user') {
      waiting.push(String(line['uuid']));
      if (isFields(line['message'])) messages.push(String(line['message']['content']));
    }
    if (line['type'] === 'assistant') {
      for (const uuid of waiting) answered.add(uuid);
      waiting = [];
    }
    if (line['type'] === 'cost-state') costUsd = Number(line['totalCostUSD']);
    if (line['type'] === 'prompt-snapshot') appendedSystemPrompt = String(line['appended']);
  }
  return { answered, messages, costUsd, appendedSystemPrompt };
}
