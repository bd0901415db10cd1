// Refusals of requests that fit the description, because OpenAPI has no words for their reasons.
// Any other refusal of such a request is a gap in the description.

/** Inputs that exclude each other, or refer to each other. */
const ofSeveralInputs = [
  /mcpServers: cannot be combined with an idempotency key/,
  /differs from the Idempotency-Key header/,
  /has no text form/,
  /a patch has all changes|CSV has all groups/,
  /is required with by=label|must not be after/,
  /must not be repeated/,
  /one of its folders is a file in this request/,
  /is not in env"/,
  /matches the \.flowignore of this request/,
];

/** The state of a resource, or the time. */
const ofState = [
  /has ended|has not ended|A session cannot be retried/,
  /because the original run used it/,
  /because the flow has no prompt|requires a prompt in the flow/,
  /unknown question|takes a single answer|is not answered/,
  /already has a different answer|no longer waiting for this answer/,
  /mcpServers\.[\w-]+\.type: is required/,
  /must be in the future|body\.expiresAt: /,
  /is already in use/,
  /conflicts with/,
  /no webhook that was delivered or dropped|The event is still being delivered/,
  /the maximum number of webhook endpoints/,
  /would have more than \d+ labels/,
  /The ETag in If-Match is not that/,
  /has no next webhook secret/,
  /the price of the model/i,
  /body\.runner: /,
  /"ENDPOINT_RETIRED"|"RATE_LIMITED"/,
];

/** A grammar, a size in bytes, or the result of a decoding. */
const ofForm = [
  /must be an http or https URL|must be an https URL|must be a valid URL/,
  /must be https, except for localhost|must use port 443|must have a public address/,
  /must not contain credentials|because a sandbox has no IPv6/,
  /bytes of UTF-8|bytes of JSON|bytes in total/,
  /is longer than \d+ bytes|has a segment longer than \d+ bytes|must be at most \d+ bytes/,
  /unpaired surrogate|lone surrogate/,
  /is not a JSON Schema that the agent supports|has an unresolvable \$ref|nested too deeply/,
  /must be Tool, mcp__server__tool or Tool\(specifier\)/,
  /must be five cron fields|never fires|must be a time zone/,
  /must be a time like|must be a day like/,
];

const known = [...ofSeveralInputs, ...ofState, ...ofForm];

/** Whether the answer names one of these reasons. */
export const isKnownRefusal = (body: string): boolean => known.some((reason) => reason.test(body));
