/** One message to the real agent, and functions that recognize the lines it causes. */
export interface AgentWords {
  prompt: string;
  /** The answer. */
  text: string;
  /** Of the agent's output. */
  isText(line: string): boolean;
  isResult(line: string): boolean;
  /** Of the stream of a run and of a session. */
  isTextEvent(event: string): boolean;
}

let count = 0;

/** The offline model answers with a text of this message alone, after a delay. */
export function agentWords(delayMs = 0): AgentWords {
  count += 1;
  const text = `This is answer ${count}.`;
  const script = [...(delayMs > 0 ? [{ delayMs }] : []), { text }];
  return {
    prompt: `Say hello.\n@model ${JSON.stringify(script)}`,
    text,
    isText: (line) => line.includes(text) && saysText(line),
    isResult: (line) => line.includes(text) && line.includes('"type":"result"'),
    isTextEvent: (event) => {
      if (!event.includes(text)) return false;
      return event.includes('event: chat_output\n') || event.includes('event: assistant\n');
    },
  };
}

interface AgentLine {
  type?: string;
  message?: { content?: { type: string }[] };
}

/** Whether a line of the agent contains text of an assistant message. */
function saysText(line: string): boolean {
  if (!line.includes('"assistant"')) return false;
  const { type, message } = JSON.parse(line) as AgentLine; // the agent's own format
  return type === 'assistant' && (message?.content ?? []).some((block) => block.type === 'text');
}
