// Prompts that are scripts: the scripted agent reads its steps after `@agent`, and the offline
// model those after `@model`.

type Steps = readonly unknown[];

/** For the scripted agent. */
export const script = (steps: Steps): string => `@agent ${JSON.stringify(steps)}`;

/** For the real agent, or for a single model call. */
export const modelScript = (steps: Steps): string => `@model ${JSON.stringify(steps)}`;

/** For either agent: the scripted one follows its own steps, the real one those of the model. */
export const scriptForBoth = (agent: Steps, model: Steps): string =>
  `${script(agent)}\n${modelScript(model)}`;

/** Either agent says the text. */
export const saying = (text: string): string => scriptForBoth([{ say: text }], [{ text }]);

/** Either agent runs the command in a tool, and then says the text. */
export const running = (command: string, text: string): string =>
  scriptForBoth(
    [{ shell: command }, { say: text }],
    [{ tool: 'Bash', input: { command } }, { text }],
  );
