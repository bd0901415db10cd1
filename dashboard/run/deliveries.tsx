import type { RunOfOperator } from '../../client/generated/types.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { Age } from '../ui/times.tsx';
import type { RunFeed } from './run-feed.ts';

interface DeliveriesProps {
  feed: RunFeed;
  record: RunOfOperator;
}

const states: Record<RunOfOperator['webhook']['state'], string> = {
  none: 'This run has no webhook.',
  waiting: 'The webhook is sent when the run ends.',
  pending: 'The webhook is being delivered.',
  delivered: 'The webhook was delivered.',
  dropped: 'The webhook could not be delivered.',
};

/** The attempts to deliver the webhook, with a button that sends it again. */
export function Deliveries({ feed: { http, runId, refresh }, record }: DeliveriesProps) {
  const { webhook, webhookAttempts } = record;
  async function redeliver(): Promise<void> {
    await http.data({ method: 'POST', path: `/runs/${runId}/webhook/redeliver`, json: {} });
    await refresh();
  }
  return (
    <>
      <h2>Webhook</h2>
      <p class={webhook.state === 'dropped' ? 'bad' : 'muted'}>{states[webhook.state]}</p>
      {webhookAttempts.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Result</th>
              <th scope="col" class="number">
                Age
              </th>
            </tr>
          </thead>
          <tbody>
            {webhookAttempts.map(({ delivery, attempt, status, error, startedAt }) => (
              <tr key={`${delivery}.${attempt}`}>
                <td class="number">
                  {delivery + 1}.{attempt}
                </td>
                <td>{error ?? status ?? 'in progress'}</td>
                <td class="number">
                  <Age at={startedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {['delivered', 'dropped'].includes(webhook.state) && (
        <ActionButton title="Send the same body again" onAction={redeliver}>
          Redeliver
        </ActionButton>
      )}
    </>
  );
}
