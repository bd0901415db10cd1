/** The model answers with one text, so only the agent's boot and its first request are measured. */
export const coldPrompt = `Say hello.\n@model ${JSON.stringify([{ text: 'Hello.' }])}`;

/** Whether a line of the agent contains text of an assistant message. */
export function saysText(line: string): boolean {
  if (!line.includes('"assistant"')) return false;
  const { type, message } = JSON.parse(line) as AgentLine; // the agent's own format
  return type === 'assistant' && (message?.content ?? []).some((block) => block.type === 'text');
}

export function isInit(line: string): boolean {
  if (!line.includes('"init"')) return false;
  const { type, subtype } = JSON.parse(line) as AgentLine;
  return type === 'system' && subtype === 'init';
}

interface AgentLine {
  type?: string;
  subtype?: string;
  message?: { content?: { type: string }[] };
}
