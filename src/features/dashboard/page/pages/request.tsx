import type { ComponentChild } from 'preact'
import { endLabels, getOutcomeLabel } from '../labels.ts'
import { useData } from '../page-data.ts'
import { escapeInvisible, formatDateTime, formatDuration, formatMoney, formatNumber } from '../page-format.ts'
import { endKinds, type StoredRequest } from '../page-request.ts'
import { buildLink } from '../route.ts'
import { api } from '../session.ts'
import { Await, State, Text } from '../ui/basics.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/sections.tsx'
import { describeVerdict } from './guard-verdicts.ts'

/** Shows a request's details: its client, targets, cost, and result. */
export function RequestDetail({ id }: { id: string }) {
  const { state, reload } = useData(async () => {
    const [{ request }, { keys }, { groups }] = await Promise.all([
      api.value.usage.request(id),
      api.value.keys.list({ values: 'none' }),
      api.value.groups.list(),
    ])
    const names = new Map([...keys, ...groups].map((record) => [record.id, record.name]))
    return { request, names, advice: await findPriceAdvice(request) }
  })
  return (
    <>
      <p>
        <a href={buildLink('requests')}>← All requests</a>
      </p>
      <h2>Request {escapeInvisible(id)}</h2>
      <Await of={state.value} onRetry={reload}>
        {({ request, names, advice }) => (
          <>
            <RequestFacts request={request} names={names} />
            {advice.map((text) => (
              <p key={text} class="notice">
                <Text of={text} /> <CopyButton text={text.replace(/^.*?: | \(USD.*$/g, '')} label="Copy call" />
              </p>
            ))}
            <GuardVerdicts request={request} />
            <section aria-labelledby="attempts">
              <h3 id="attempts">Attempts</h3>
              <Attempts request={request} />
              <Skipped request={request} />
            </section>
            <p class="hint">Prompts and responses aren’t stored.</p>
            <CopyButton text={JSON.stringify(request, null, 2)} label="Copy as JSON" />
          </>
        )}
      </Await>
    </>
  )
}

/** Returns advice on setting missing prices if a dollar limit rejected the request because of them. */
async function findPriceAdvice({ error, model, keyId }: StoredRequest): Promise<string[]> {
  if (error !== 'REQUEST_TOO_EXPENSIVE' || model === undefined) return []
  const { targets } = await api.value.explain({ model, ...(keyId && { keyId }) }).catch(() => ({ targets: [] }))
  return targets.flatMap(({ why }) => /No price of .*$/.exec(why) ?? [])
}

const costSources = {
  reported: 'reported by the provider',
  counted: 'calculated from reported tokens',
  estimated: 'estimated because the provider reported no usage',
} as const

const priceSources = {
  connection: 'set on the connection',
  custom: 'set on the custom model',
  live: 'from the refreshed catalog',
  'built-in': 'from the catalog',
} as const

/** Why the gateway didn't set cache breakpoints. */
const skipReasonLabels = {
  client: 'marked by the client',
  short: 'prompt too short',
  single: 'prompt expected once',
  unsupported: 'not supported by the target',
  unprofitable: 'cost more than it saved',
  rejected: 'rejected by the target',
  hedge: 'hedged',
} as const

function describePromptCache({ by, read, written, savedUsd, stoodDown }: NonNullable<StoredRequest['promptCache']>) {
  const parts = [`${formatNumber(read)} read`, `${formatNumber(written)} written`]
  if (by === 'gateway' && savedUsd !== undefined)
    parts.push(savedUsd < 0 ? `cost ${formatMoney(-savedUsd)} extra` : `saved ${formatMoney(savedUsd)}`)
  if (stoodDown) parts.push(skipReasonLabels[stoodDown])
  return parts.join(', ')
}

function RequestFacts({ request, names }: { request: StoredRequest; names: ReadonlyMap<string, string> }) {
  const { tokens, costUsd, costSource, promptCache, guardUsd, error, reason, warnings = [] } = request
  const prices = request.attempts.flatMap(({ price }) =>
    price ? [`${price.of} ${priceSources[price.by]}${price.asOf ? `, as of ${price.asOf}` : ''}`] : [],
  )
  const getDisplayName = (id: string | undefined) => (id === undefined ? undefined : (names.get(id) ?? id))
  const facts: Array<[string, ComponentChild]> = [
    ['Result', <State kind={endKinds[request.end]}>{endLabels[request.end]}</State>],
    ['Requested model', request.model],
    ['Endpoint', request.endpoint],
    ['Format', request.format],
    ['Key', getDisplayName(request.keyId)],
    ['Group', getDisplayName(request.groupId)],
    ['Account', request.account],
    ['End user', request.user],
    ['Received', formatDateTime(request.time)],
    ['Status', `${request.status}`],
    ['Time to first token', request.firstByteMs === undefined ? undefined : formatDuration(request.firstByteMs)],
    [
      'Tokens',
      `${formatNumber(tokens.input)} in (${formatNumber(tokens.cacheRead)} cached), ${formatNumber(tokens.output)} out (${formatNumber(tokens.reasoning)} reasoning)`,
    ],
    [
      'Cost',
      costUsd === undefined ? 'Unknown' : `${formatMoney(costUsd)}${costSource ? `, ${costSources[costSource]}` : ''}`,
    ],
    ['Prices', prices.length > 0 ? prices.join('; ') : undefined],
    ['Cost of guards', guardUsd === undefined ? undefined : formatMoney(guardUsd)],
    ['Prompt cache', promptCache && describePromptCache(promptCache)],
    ['Warnings', warnings.length > 0 ? warnings.join(', ') : undefined],
  ]
  return (
    <>
      {error !== undefined && (
        <p class="notice">
          <Text of={`${error.toLowerCase()}: ${reason ?? ''}`} />
        </p>
      )}
      <Facts of={facts} />
    </>
  )
}

function GuardVerdicts({ request: { guards = [] } }: { request: StoredRequest }) {
  if (guards.length === 0) return null
  return (
    <section aria-labelledby="guards">
      <h3 id="guards">Guards</h3>
      <ul>
        {guards.map((entry) => (
          <li key={entry.name + entry.stage}>
            <Text
              of={`${entry.name}, ${entry.stage === 'request' ? 'request' : 'response'}: ${describeVerdict(entry, entry.category)}`}
            />{' '}
            <span class="hint">{formatDuration(entry.ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Attempts({ request: { attempts, durationMs, streamed } }: { request: StoredRequest }) {
  if (attempts.length === 0) return <p>No provider was called.</p>
  const totalMs = Math.max(1, durationMs)
  return (
    <>
      <p class="hint">
        Request timeline, {formatDuration(durationMs)} in total.{' '}
        {streamed && 'For streams, the solid part is the time to first token and the faded part is the rest.'}
      </p>
      <ol class="attempts">
        {attempts.map((attempt, index) => {
          const hasAnswered = attempt.outcome === 'answered'
          return (
            <li key={index}>
              <div>
                <Text of={`${attempt.provider}/${attempt.model}`} />{' '}
                <State
                  kind={
                    hasAnswered
                      ? 'good'
                      : attempt.outcome === 'cancelled' || attempt.outcome === 'outrun'
                        ? 'off'
                        : 'bad'
                  }
                >
                  {attempt.status} {hasAnswered ? '' : getOutcomeLabel(attempt.outcome)}
                </State>{' '}
                <span class="hint">
                  {hasAnswered && streamed
                    ? `first token after ${formatDuration(attempt.durationMs)}, ${formatDuration(durationMs - attempt.startMs)} total`
                    : formatDuration(attempt.durationMs)}
                </span>
              </div>
              <svg class="axis" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">
                <rect class="track" width="1000" height="14" />
                <rect
                  class={hasAnswered ? 'series s4' : 'series s5'}
                  x={(attempt.startMs / totalMs) * 1000}
                  width={Math.max(4, (attempt.durationMs / totalMs) * 1000)}
                  height="14"
                />
                {hasAnswered && (
                  <rect
                    class="series s4 faded"
                    x={((attempt.startMs + attempt.durationMs) / totalMs) * 1000}
                    width={Math.max(0, 1000 - ((attempt.startMs + attempt.durationMs) / totalMs) * 1000)}
                    height="14"
                  />
                )}
              </svg>
              {attempt.message !== undefined && (
                <p class="hint">
                  <Text of={attempt.message} />
                </p>
              )}
            </li>
          )
        })}
      </ol>
    </>
  )
}

function Skipped({ request: { skipped = [] } }: { request: StoredRequest }) {
  if (skipped.length === 0) return null
  return (
    <>
      <h4>Skipped targets</h4>
      <ul>
        {skipped.map((skip, index) => (
          <li key={index}>
            <Text
              of={`${'entry' in skip ? skip.entry : `${skip.provider}/${skip.model}`}: ${getOutcomeLabel(skip.skipped)}`}
            />
          </li>
        ))}
      </ul>
    </>
  )
}
