import { plainModelName } from './model-prices.ts';

/** The models behind the agent's aliases. A test compares them with the calls of the real agent. */
const current = {
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
  fable: 'claude-fable-5-2',
} as const;

const aliases: Readonly<Record<string, readonly string[]>> = {
  default: [current.opus],
  best: [current.opus],
  opusplan: [current.opus, current.sonnet],
  ...Object.fromEntries(Object.entries(current).map(([name, model]) => [name, [model]])),
};

/** The agent's model if a run names none. */
const defaultModel = current.opus;

/**
 * The models that an agent may call: the model of its run, its small model, and those that the flow
 * lists. Names are returned without the version's date and without a suffix.
 */
export function allowedModels(run: { model: string | null; listed: readonly string[] }): string[] {
  const named = [run.model, ...run.listed];
  return [...new Set([current.haiku, ...named.flatMap(modelsForName)])];
}

export const isAllowedModel = (model: string, allowed: readonly string[]): boolean =>
  allowed.includes(plainModelName(model));

/**
 * The models that the agent calls if it is started with this name; null: its default. It replaces a
 * retired model by the current one of the same family.
 */
export function modelsForName(name: string | null): string[] {
  const plain = plainModelName(name ?? defaultModel);
  const alias = Object.hasOwn(aliases, plain) ? aliases[plain] : undefined;
  if (alias !== undefined) return [...alias];
  const family = Object.entries(current).find(([each]) => plain.startsWith(`claude-${each}-`));
  return family === undefined ? [plain] : [plain, family[1]];
}
