import { isKnownRefusal } from '../integration/api/fuzz/known-refusals.ts';

interface Report {
  requests: number;
  /** The requests that the service did not treat as described, with what Schemathesis says. */
  findings: string[];
}

interface Interaction {
  request: { method: string; uri: string; body?: unknown };
  response: { status_code: number; content?: unknown } | null;
}

interface Check {
  name: string;
  status: string;
  failure_info?: unknown;
}

interface Recorder {
  label: string;
  /** Absent if no request was sent. */
  interactions?: Record<string, Interaction>;
  checks?: Record<string, Check[]>;
}

/** Reads the events that Schemathesis writes, one for each line. */
export function readReport(ndjson: string): Report {
  const recorders = ndjson
    .split('\n')
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .map((line) => recorderIn(JSON.parse(line) as Finished));
  const requests = recorders.map(({ interactions }) => Object.keys(interactions ?? {}).length);
  return {
    requests: requests.reduce((sum, count) => sum + count, 0),
    findings: recorders.flatMap(findingsOf),
  };
}

interface Finished {
  ScenarioFinished: { recorder: Recorder };
}

const recorderIn = ({ ScenarioFinished }: Finished): Recorder => ScenarioFinished.recorder;

function findingsOf({ label, interactions = {}, checks = {} }: Recorder): string[] {
  return Object.entries(checks).flatMap(([id, ofCase]) => {
    const { request, response } = interactions[id] ?? {};
    const body = textOf(response?.content);
    return ofCase
      .filter((check) => check.status === 'failure' && !isExplained(check, body))
      .map((check) =>
        [
          `${check.name}: ${label}`,
          `${request?.method} ${request?.uri} ${textOf(request?.body).slice(0, 1_000)}`,
          `→ ${response?.status_code} ${body.slice(0, 500)}`,
          JSON.stringify(check.failure_info ?? null).slice(0, 500),
        ].join('\n'),
      );
  });
}

/**
 * A host that is busy answers 503 with `Retry-After`, as described. In OpenAPI 3.1 a stream is
 * text, but Schemathesis expects the form of OpenAPI 3.2, in which a schema describes each event.
 * The tests of streams validate every event. Schemathesis counts the operator's cookie as missing,
 * because all requests get it by an argument.
 */
function isExplained({ name: check, failure_info: info }: Check, body: string): boolean {
  if (check === 'positive_data_acceptance') return isKnownRefusal(body);
  if (check === 'negative_data_rejection') return / (?:at|in) cookie/.test(JSON.stringify(info));
  if (check === 'response_schema_conformance') return /\nevent: /.test(body);
  return check === 'not_a_server_error' && body.includes('"UPSTREAM_UNAVAILABLE"');
}

/** Bytes are in base64. */
function textOf(content: unknown): string {
  const encoded =
    typeof content === 'object' && content !== null ? Object.values(content)[0] : content;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString() : '';
}
