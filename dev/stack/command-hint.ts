// Commands as the reader types them for this very stack: what was set for it belongs to them.

const ports = ['FLOWRUN_API_PORT', 'FLOWRUN_TEMPORAL_PORT', 'FLOWRUN_TEMPORAL_UI_PORT'];

/** For a command that finds the stack, which is by its folder. */
export function commandHint(command: string): string {
  return withSettings(['FLOWRUN_DATA'], command);
}

/** For one that brings it up. */
export function startCommandHint(command: string): string {
  return withSettings(['FLOWRUN_DATA', ...ports], command);
}

function withSettings(names: string[], command: string): string {
  const set = names.flatMap((name) => {
    const value = process.env[name];
    return value ? [`${name}=${quoted(value)}`] : [];
  });
  return [...set, command].join(' ');
}

/** As a shell reads it back. */
function quoted(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
