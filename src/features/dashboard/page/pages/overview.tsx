import type { ComponentChild } from 'preact'
import { getOutcomeLabel, healthLabels } from '../labels.ts'
import { useData, useSignal } from '../page-data.ts'
import {
  formatClockTime,
  formatCompact,
  formatCount,
  formatDuration,
  formatHour,
  formatMoney,
  formatNumber,
  formatPercent,
  sanitize,
} from '../page-format.ts'
import { formatAmount, formatLimitName } from '../page-limits.ts'
import { buildLink } from '../route.ts'
import { api } from '../session.ts'
import { Await, Button, State, Text } from '../ui/basics.tsx'
import { Chart } from '../ui/chart.tsx'
import { Cards, Section } from '../ui/sections.tsx'

const HOUR_MS = 3_600_000

type OverviewData = Awaited<ReturnType<typeof load>>
type Summary = NonNullable<OverviewData['usage']>

/** Shows figures for the last 24 hours, unhealthy targets, and problems that need attention. */
export default function Overview() {
  const { state, reload } = useData(load, {
    intervalMs: 30_000,
    on: ['finished', 'health', 'changed', 'lost'],
    minIntervalMs: 3_000,
  })
  return (
    <Await of={state.value} onRetry={reload}>
      {(overview) => (
        <>
          <FirstSteps {...overview} />
          {overview.usage ? (
            <Section title="Last 24 hours">
              <Figures {...overview.usage} />
              <Chart {...toChart(overview.usage)} />
            </Section>
          ) : (
            <p class="notice">This gateway doesn’t record usage, so there are no statistics to show.</p>
          )}
          <Attention {...overview} />
          <UnhealthyTargets {...overview} />
          <Failures {...overview} />
        </>
      )}
    </Await>
  )
}

const load = () => api.value.overview()

const SKIPPED_KEY = 'signalbox.first-steps'

/** Shows the first steps in setting up a gateway. */
function FirstSteps({ counts: { connections, keys }, usage }: OverviewData) {
  const isSkipped = useSignal(localStorage.getItem(SKIPPED_KEY) !== null)
  const steps = [
    { text: 'Connect a provider', isDone: connections > 0, link: buildLink('targets') },
    { text: 'Create an API key', isDone: keys > 0, link: buildLink('keys') },
    {
      text: 'Send a request in the playground',
      isDone: (usage?.totals.requests ?? 0) > 0,
      link: buildLink('playground'),
    },
  ]
  if (isSkipped.value || steps.every(({ isDone }) => isDone)) return null
  return (
    <section aria-labelledby="first" class="notice">
      <h2 id="first">Get started</h2>
      <ol>
        {steps.map(({ text, isDone, link }) => (
          <li key={text}>
            <a href={link}>{text}</a> {isDone && <State kind="good">Done</State>}
          </li>
        ))}
      </ol>
      <Button
        onClick={() => {
          localStorage.setItem(SKIPPED_KEY, '1')
          isSkipped.value = true
        }}
      >
        Dismiss
      </Button>
    </section>
  )
}

/** Shows figures for the last 24 hours, compared with the preceding 24 hours. */
function Figures({ totals, before }: Summary) {
  const previousTotals = before?.totals
  const { tokens, firstByteMs } = totals
  const cards = [
    [
      'Requests',
      formatNumber(totals.requests),
      previousTotals && `${formatNumber(previousTotals.requests)} the day before`,
    ],
    [
      'Failed or rejected',
      formatFailedShare(totals),
      previousTotals && `${formatFailedShare(previousTotals)} the day before`,
    ],
    ['Spend', formatMoney(totals.costUsd), previousTotals && `${formatMoney(previousTotals.costUsd)} the day before`],
    ['Tokens in / out', `${formatCompact(tokens.input)} / ${formatCompact(tokens.output)}`],
    [
      'Median time to first token',
      firstByteMs ? formatDuration(firstByteMs.p50) : '–',
      firstByteMs && `p95: ${formatDuration(firstByteMs.p95)}`,
    ],
  ] as const
  return <Cards of={cards} />
}

const formatFailedShare = ({ failed, requests }: Summary['totals']) => formatPercent(failed / Math.max(1, requests))

function toChart({ from, rows }: Summary) {
  const hours = Array.from({ length: 24 }, (_, index) => Date.parse(from) + index * HOUR_MS)
  const findRow = (time: number) => rows.find(({ hour }) => hour !== undefined && Date.parse(hour) === time)
  const failed = hours.map((hour) => findRow(hour)?.failed ?? 0)
  const succeeded = hours.map((hour, index) => (findRow(hour)?.requests ?? 0) - (failed[index] ?? 0))
  return {
    title: 'Requests per hour',
    labels: hours.map(formatHour),
    parts: [
      { name: 'Succeeded', values: succeeded },
      { name: 'Failed or rejected', values: failed },
    ],
    format: formatCompact,
  }
}

/** Shows a list, or a message if it is empty. */
const List = ({ title, empty, children }: { title: string; empty?: string; children: ComponentChild[] }) => (
  <Section title={title}>
    {children.length > 0 ? <ul class="bare">{children}</ul> : empty !== undefined && <State kind="good">{empty}</State>}
  </Section>
)

function Attention({ usage, damaged, nearLimits = [], requireApiKey, mirrorError }: OverviewData) {
  const { unpriced, refused: rejected } = usage?.totals ?? { unpriced: 0, refused: 0 }
  const items = [
    ...(requireApiKey ? [] : [{ text: 'Clients can send requests without an API key.', link: buildLink('settings') }]),
    ...(rejected > 0
      ? [
          {
            text: `${formatCount(rejected, 'request')} rejected in the last 24 hours.`,
            link: buildLink('requests', '', { end: 'refused' }),
          },
        ]
      : []),
    ...nearLimits.map((limit) => ({ text: formatNearLimit(limit), link: getHolderLink(limit) })),
    ...(unpriced > 0
      ? [
          {
            text: `${formatCount(unpriced, 'call')} in the last 24 hours went to models with an unknown price.`,
            link: buildLink('models'),
          },
        ]
      : []),
    ...(damaged > 0
      ? [{ text: `${formatCount(damaged, 'damaged record')} in storage.`, link: buildLink('settings') }]
      : []),
    ...(mirrorError === undefined ? [] : [{ text: `Cloud sync is failing: ${mirrorError}`, link: buildLink('cloud') }]),
  ]
  return (
    <List title="Needs attention" empty="Nothing needs your attention.">
      {items.map(({ text, link }) => (
        <li key={text}>
          <State kind="warn">{''}</State> <a href={link}>{text}</a>
        </li>
      ))}
    </List>
  )
}

type NearLimit = NonNullable<OverviewData['nearLimits']>[number]

function formatNearLimit({ name, unit, window, limit, remaining }: NearLimit): string {
  const holderName = name === undefined ? 'The gateway' : `"${sanitize(name)}"`
  const [used, most] = [formatAmount(unit, Math.max(0, limit - remaining)), formatAmount(unit, limit)]
  return `${holderName} has used ${used} of ${most} ${formatLimitName(unit, window)}.`
}

function getHolderLink({ scope, id = '' }: NearLimit): string {
  if (scope === 'gateway') return buildLink('settings')
  return buildLink('keys', '', scope === 'key' ? { q: id } : { group: id })
}

function UnhealthyTargets({ health }: OverviewData) {
  return (
    <List title="Unhealthy targets" empty="All targets are healthy.">
      {health.map(({ level, provider, model, connectionId, combo, state, reason, message }) => (
        <li key={[level, connectionId, model, combo].join(' ')}>
          <State kind={state === 'cooling' ? 'bad' : 'warn'}>{healthLabels[state]}</State>{' '}
          <a href={buildLink('targets')}>
            <Text of={[provider, model].filter(Boolean).join('/')} />
          </a>{' '}
          {getOutcomeLabel(reason)}: <Text of={message} />
        </li>
      ))}
    </List>
  )
}

/** Shows the latest failed requests with their reasons. */
function Failures({ failures }: OverviewData) {
  if (failures.length === 0) return null
  return (
    <List title="Recent failures">
      {failures.map(({ id, time, status, model, error, reason }) => (
        <li key={id}>
          <a href={buildLink('requests', id)}>{formatClockTime(time)}</a> {status} <Text of={model} />{' '}
          <span class="hint">
            <Text of={reason ?? error?.toLowerCase()} />
          </span>
        </li>
      ))}
    </List>
  )
}
