/** The types of the errors with which the gateway refuses calls, in the words of the model API. */
export const modelErrorTypes = [
  'invalid_request_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'billing_error',
  'overloaded_error',
  'api_error',
] as const;
export type ModelErrorType = (typeof modelErrorTypes)[number];
