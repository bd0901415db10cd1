import { isObject, type JsonObject, listIn, textIn } from '../json.ts';
import { sandboxPaths } from '../sandbox/sandbox-config.ts';

/** The one member of a tool's input that best describes the call. */
export function summarizeToolInput(tool: string, input: JsonObject): string {
  const question = listIn(input, 'questions').find(isObject);
  if (question !== undefined) return (textIn(question, 'question') ?? '').slice(0, readChars);
  const names = [
    ...(namesByTool.get(tool) ?? []),
    ...commonNames,
    ...Object.keys(input).slice(0, 20),
  ];
  const values = names.map((name) => input[name]);
  const value = values.find((candidate) => typeof candidate === 'string' && candidate !== '');
  return typeof value === 'string' ? withoutWorkspace(value.slice(0, readChars)) : '';
}

const readChars = 1_000;

const namesByTool = new Map([
  ['Bash', ['command']],
  ['Grep', ['pattern']],
  ['Glob', ['pattern']],
  ['WebFetch', ['url']],
  ['WebSearch', ['query']],
  ['Task', ['description']],
]);

const commonNames = [
  'file_path',
  'notebook_path',
  'path',
  'command',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
];

/** Omits the working directory, which every path shares. */
function withoutWorkspace(text: string): string {
  const prefix = `${sandboxPaths.workspace}/`;
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
