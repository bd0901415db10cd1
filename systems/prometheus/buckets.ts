/** In seconds: what a client waits for. */
export const callSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** In seconds: what a run waits for, from at once to as long as it may. */
export const waitSeconds = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** In seconds: how long an agent works. */
export const runSeconds = [5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600];
