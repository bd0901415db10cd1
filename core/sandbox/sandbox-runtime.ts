/** Values of SANDBOX_RUNTIME. `auto` is gVisor if the engine has it, otherwise runc. */
export const runtimeSettings = ['auto', 'runc', 'runsc'] as const;
export type RuntimeSetting = (typeof runtimeSettings)[number];

/** The engine's name of a runtime; `runsc` is gVisor. */
export type SandboxRuntime = Exclude<RuntimeSetting, 'auto'>;

/** Why a runtime cannot be used: the engine does not have it, or sandboxes on it do not work. */
const runtimeFaults = ['runtime_missing', 'runtime_unusable'] as const;
export type RuntimeFault = (typeof runtimeFaults)[number];

/** Null for any other error. */
export function runtimeFaultOf(error: unknown): RuntimeFault | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return runtimeFaults.find((fault) => fault === code) ?? null;
}

const alternative =
  'or set SANDBOX_RUNTIME=runc to run without gVisor. Until then no sandbox starts, and runs end with container_start_failed.';

/** Advice in the worker's log and from the doctor. */
export const runtimeAdvice: Readonly<Record<RuntimeFault, string>> = {
  runtime_missing: `Install gVisor (\`npm run setup:gvisor\`, docs/operate.md), ${alternative}`,
  runtime_unusable: `Add \`--host-uds=open\` to the runtimeArgs of \`runsc\` in the engine's configuration and reload it (\`npm run setup:gvisor\` shows how, docs/operate.md), ${alternative}`,
};
