/** What an operator may ask for: `auto` is gVisor where the engine has it, else runc. */
export const runtimeSettings = ['auto', 'runc', 'runsc'] as const;
export type RuntimeSetting = (typeof runtimeSettings)[number];

/** What a sandbox runs on, by the engine's own name for it; `runsc` is gVisor. */
export type SandboxRuntime = Exclude<RuntimeSetting, 'auto'>;

/** Why nothing can run on it: the engine does not have it, or sandboxes on it could not work. */
export const runtimeFaults = ['runtime_missing', 'runtime_unusable'] as const;
export type RuntimeFault = (typeof runtimeFaults)[number];

/** Null where an error says something else. */
export function runtimeFaultOf(error: unknown): RuntimeFault | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return runtimeFaults.find((fault) => fault === code) ?? null;
}

const orDoWithout =
  'or set SANDBOX_RUNTIME=runc to do without it. Until then no sandbox starts, and runs end as container_start_failed.';

/** What to do about it. Said by the worker's log and by the doctor. */
export const runtimeAdvice: Readonly<Record<RuntimeFault, string>> = {
  runtime_missing: `Put gVisor there (\`npm run setup:gvisor\`, docs/operate.md), ${orDoWithout}`,
  runtime_unusable: `Put \`--host-uds=open\` among the runtimeArgs of \`runsc\` in the engine's configuration and reload it (\`npm run setup:gvisor\` says how, docs/operate.md), ${orDoWithout}`,
};
