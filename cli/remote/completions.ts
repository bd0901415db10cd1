import type { Command } from 'commander';
import { listIn, objectIn } from '../../core/json.ts';
import { currentContext, openClient } from './connection.ts';
import type { Context } from './contexts.ts';
import { readSettings, writeSettings } from './settings-folder.ts';

/** Completions of the last word: commands, options, or the names of flows. */
export async function completionsFor(program: Command, words: string[]): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  const { command, given } = commandIn(program, words.slice(0, -1));
  const candidates = typed.startsWith('-')
    ? command.options.flatMap(({ short, long }) => [short, long])
    : await argumentsOf(command, given);
  return candidates.filter((candidate) => candidate?.startsWith(typed)) as string[]; // filtered
}

async function argumentsOf(command: Command, given: number): Promise<string[]> {
  if (command.commands.length > 0) return visibleNames(command);
  const isFlow = given === 0 && /^flow(-id)?$/.test(command.registeredArguments[0]?.name() ?? '');
  return isFlow ? readFlowNames() : [];
}

const visibleNames = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());

/** The command that the words lead to, and how many arguments follow it. */
function commandIn(program: Command, words: string[]): { command: Command; given: number } {
  let command = program;
  let given = 0;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next !== undefined && given === 0) command = next;
    else if (!word.startsWith('-')) given += 1;
  }
  return { command, given };
}

const cacheFile = 'flow-names.json';
const cachedForMs = 5 * 60_000;
/** A shell waits for the completion. */
const answerWithinMs = 1_000;

async function readFlowNames(): Promise<string[]> {
  const context = currentContext();
  const cached = objectIn(readSettings(cacheFile), context.url);
  if (Number(cached['readAtMs']) > Date.now() - cachedForMs)
    return listIn(cached, 'names').filter((name) => typeof name === 'string');
  const names = await fetchFlowNames(context);
  if (names.length === 0) return [];
  const others = readSettings(cacheFile);
  writeSettings(cacheFile, { ...others, [context.url]: { names, readAtMs: Date.now() } });
  return names;
}

async function fetchFlowNames(context: Context): Promise<string[]> {
  const names: string[] = [];
  const flowrun = await openClient(context, AbortSignal.timeout(answerWithinMs));
  for await (const { name } of flowrun.flows()) names.push(name);
  return names;
}
