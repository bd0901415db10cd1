// Commands as the reader types them for this stack, with the settings that select it.

const ports = ['FLOWRUN_API_PORT', 'FLOWRUN_TEMPORAL_PORT', 'FLOWRUN_TEMPORAL_UI_PORT'];

/** Adds the setting by which a command finds the stack: its folder. */
export function commandHint(command: string): string {
  return withSettings(['FLOWRUN_DATA'], command);
}

/** Adds the settings for a command that starts the stack: its folder and ports. */
export function startCommandHint(command: string): string {
  return withSettings(['FLOWRUN_DATA', ...ports], command);
}

function withSettings(names: string[], command: string): string {
  const settings = names.flatMap((name) => {
    const value = process.env[name];
    return value ? [`${name}=${quoted(value)}`] : [];
  });
  return [...settings, command].join(' ');
}

/** Quotes text for a shell. */
function quoted(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
