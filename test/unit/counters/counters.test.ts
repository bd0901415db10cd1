import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { Call } from '../../support/counters/call-log.ts';
import { createTally } from '../../support/counters/counters.ts';
import { requireEqual } from '../../support/counters/expected-counters.ts';
import { idleMinute, idleWindow } from '../../support/counters/idle-window.ts';
import { actionsIn } from '../../support/counters/temporal-actions.ts';

const statement = (name: string, atMs = 0, program = 'worker'): Call[] => [
  { kind: 'statement', program, name, atMs },
  { kind: 'transaction', program, names: [name], committed: true, atMs },
];
const docker = (name: string, atMs = 0): Call => ({ kind: 'docker', name, atMs });

describe('the tally', () => {
  test('counts calls of the service, and leaves out those that recur by time', () => {
    const tally = createTally();
    const calls = [
      ...statement('claim_turn'),
      ...statement('find_key', 0, 'api'),
      ...statement('select 1', 0, 'test'),
      ...statement('with lease as (insert into host_leases)'),
      docker('POST /containers/create'),
      docker('GET /containers/…/json'),
      docker('GET /version'),
    ];
    for (const call of calls) tally.add(call);
    expect(tally.counters({ 'temporal: timer': 2 })).toEqual({
      commits: 2,
      statements: 2,
      'docker calls': 1,
      'temporal actions': 2,
      'api: find_key': 1,
      'docker: POST /containers/create': 1,
      'temporal: timer': 2,
      'worker: claim_turn': 1,
    });
  });
});

describe('the comparison with the committed counters', () => {
  const expected = { statements: 2, 'worker: claim_turn': 1, 'worker: has_work': 1 };

  test('accepts exactly the committed numbers', () => {
    const actual = { statements: 200, 'worker: claim_turn': 100, 'worker: has_work': 100 };
    requireEqual('turn', { expected, actual, times: 100 });
  });

  test('names each counter that has changed, and how to accept the change', () => {
    const actual = { statements: 201, 'worker: claim_turn': 100, 'worker: select 1': 101 };
    expect(() => requireEqual('turn', { expected, actual, times: 100 })).toThrow(
      [
        'The counters of 100 times turn have changed:',
        '  statements: 200 → 201',
        '  worker: has_work: 100 → 0',
        '  worker: select 1: 0 → 101',
        'If the change is intended, run `npm run counters` and commit expected-counters.json.',
      ].join('\n'),
    );
  });
});

describe('an idle minute', () => {
  const passes = 4;
  const passMs = 20_000;
  const inspection = 'GET /containers/…/json';
  const perMinute = 60_000 / limits.sandbox.pausedPollMs;

  /** Passes of two statements, and a renewal of all leases of the host. */
  function pass(...more: Call[]): (n: number) => Call[] {
    return (n) => [
      ...statement('lock', n * passMs),
      ...statement('select runs', n * passMs),
      ...statement('renew_leases', n * passMs),
      ...more,
    ];
  }
  const windowOf = (calls: (n: number) => Call[], more: Call[] = []) =>
    idleWindow([...Array.from({ length: passes }, (_, n) => calls(n)).flat(), ...more], passes);
  const none = windowOf(() => [...statement('lock')]);

  test('has the calls of passes, and of timers at their intervals', () => {
    const session = windowOf(pass(), [docker(inspection, 30_000)]);
    const passesPerMinute = 60_000 / limits.reconciler.everyMs;
    expect(idleMinute({ session, none, actions: {} })).toEqual({
      commits: passesPerMinute,
      statements: passesPerMinute,
      'docker calls': perMinute,
      'temporal actions': 0,
      [`docker: ${inspection}`]: perMinute,
      'worker: select runs': passesPerMinute,
    });
  });

  test('rejects calls that are neither in each pass nor of a timer', () => {
    expect(() => windowOf(pass(), statement('select of a new timer'))).toThrow(
      /in each pass.*\n {2}commits: 9\n {2}worker: select of a new timer: 1$/s,
    );
  });

  test('rejects a timer that fires more often than its interval permits', () => {
    const fired = (times: number) =>
      Array.from({ length: times }, () => docker(inspection, 60_000));
    const minuteWith = (times: number) =>
      idleMinute({ session: windowOf(pass(), fired(times)), none, actions: {} });
    expect(minuteWith(2 + perMinute)).toMatchObject({ 'docker calls': perMinute });
    const tooMany = 3 + perMinute;
    expect(() => minuteWith(tooMany)).toThrow(
      `docker: ${inspection}: ${tooMany} calls in 60000 ms instead of one every`,
    );
  });
});

describe('the actions of a workflow', () => {
  type Events = Parameters<typeof actionsIn>[0];
  const namesOf = (events: Events): string[] =>
    actionsIn(events).map(({ name, count }) => `${name} ${count}`);

  test('are its start, activities, timers, signals and search attributes', () => {
    const path = new URL('../../histories/stop.json', import.meta.url);
    // As Temporal's command line writes it: field names are the same.
    const { events } = JSON.parse(readFileSync(path, 'utf8')) as { events: Events };
    expect(namesOf(events).sort()).toEqual([
      'activity cancelWorkflow 1',
      'activity endRun 1',
      'activity followRun 1',
      'activity recordCause 1',
      'activity removeSandbox 1',
      'activity snapshotWorkspace 1',
      'activity startSandbox 1',
      'activity stopSandbox 1',
      'search attributes 1',
      'signal stop 1',
      'timer 1',
      'workflow start 1',
    ]);
  });

  test('include each attempt of an activity', () => {
    const events = [
      { eventId: 5, activityTaskScheduledEventAttributes: { activityType: { name: 'a' } } },
      { eventId: 6, activityTaskStartedEventAttributes: { scheduledEventId: 5, attempt: 3 } },
    ];
    expect(namesOf(events as unknown as Events)).toEqual(['activity a 3']);
  });

  test('are not guessed for an unknown kind of event', () => {
    const events = [{ eventId: 1, workflowPropertiesModifiedEventAttributes: {} }];
    expect(() => actionsIn(events as unknown as Events)).toThrow('workflowPropertiesModified');
  });
});
