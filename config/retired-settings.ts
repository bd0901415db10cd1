/**
 * Settings that no longer exist, each with the setting to use instead. They are rejected at start.
 */
export const retiredSettings: Readonly<Record<string, string>> = {
  RUN_KEPT_DAYS: 'RUN_RETENTION_DAYS',
  SESSION_FILES_KEPT_DAYS: 'SESSION_FILE_RETENTION_DAYS',
  WEBHOOK_ATTEMPTS_KEPT_DAYS: 'WEBHOOK_ATTEMPT_RETENTION_DAYS',
  MODEL_KEY_GIVEN: 'HAS_MODEL_KEY',
};
