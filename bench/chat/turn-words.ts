import { saysText } from '../cold/first-text.ts';

/** One turn: its prompt, and functions that recognize its lines among those of other turns. */
interface TurnWords {
  prompt: string;
  isEcho(line: string): boolean;
  isText(line: string): boolean;
  isResult(line: string): boolean;
  /** Matches events of the stream. */
  isTextEvent(event: string): boolean;
}

export function turnWords(number: number): TurnWords {
  const text = `This is answer ${number}.`;
  const has = (line: string, what: string): boolean => line.includes(what) && line.includes(text);
  return {
    prompt: `Say hello.\n@model ${JSON.stringify([{ text }])}`,
    isEcho: (line) => has(line, '"type":"user"'),
    isText: (line) => line.includes(text) && saysText(line),
    isResult: (line) => has(line, '"type":"result"'),
    isTextEvent: (event) => has(event, 'event: chat_output\n'),
  };
}

export const isTurnEnd = (event: string): boolean => event.includes('event: turn_end\n');
