/** What an operator may ask for: `auto` is gVisor where the engine has it, else runc. */
export const runtimeSettings = ['auto', 'runc', 'runsc'] as const;
export type RuntimeSetting = (typeof runtimeSettings)[number];

/** What a sandbox runs on, by the engine's own name for it; `runsc` is gVisor. */
export type SandboxRuntime = Exclude<RuntimeSetting, 'auto'>;

/** Where the engine does not have it. Said by the worker's log and by the doctor. */
export const runtimeAdvice =
  'Put gVisor there (`npm run setup:gvisor`, docs/operate.md), or set SANDBOX_RUNTIME=runc to do without it. Until then no sandbox starts, and runs end as container_start_failed.';
