/** The environment variables of commands that act as an operator. */
interface OperatorConfig {
  token: string | undefined;
  project: string | undefined;
}

/** An empty variable counts as missing. */
export const readOperatorConfig = (): OperatorConfig => ({
  token: process.env['FLOWRUN_TOKEN'] || undefined,
  project: process.env['FLOWRUN_PROJECT'] || undefined,
});

/** The variables with the values of secrets, which flow files name. */
export const readVariables = (): Readonly<Record<string, string | undefined>> => process.env;
